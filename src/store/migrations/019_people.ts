import type { Db } from "../database.ts";

/** The columns of a table: names separated by spaces. */
interface TableDefinition {
  readonly text: string;
  readonly textOrNull?: string;
  readonly integer?: string;
  readonly integerOrNull?: string;
  /** The column that identifies a row. Default: `id`. */
  readonly key?: string;
  readonly unique?: readonly string[];
  readonly indexes?: readonly string[];
  /** Columns that refer to a user, and whose rows are deleted with the user. */
  readonly ofUser?: readonly string[];
}

/**
 * The tables of people and of the authorization server, in the layout of better-auth's models with all dates as ISO
 * text, truth values as 0 and 1, and lists and objects as JSON. `userLinks` is this program's own.
 */
export const tables: Readonly<Record<string, TableDefinition>> = {
  users: {
    text: "id businessId name email role createdAt updatedAt",
    textOrNull: "image disabledAt",
    integer: "emailVerified seesSensitive",
    unique: ["email"],
    indexes: ["businessId createdAt id"],
  },
  userLinks: {
    text: "sha256 expiresAt createdAt",
    textOrNull: "userId usedAt",
    key: "sha256",
    indexes: ["userId", "expiresAt"],
    ofUser: ["userId"],
  },
  userSessions: {
    text: "id userId token expiresAt createdAt updatedAt",
    textOrNull: "ipAddress userAgent",
    unique: ["token"],
    indexes: ["userId", "expiresAt"],
    ofUser: ["userId"],
  },
  userCredentials: {
    text: "id userId accountId providerId createdAt updatedAt",
    textOrNull: "accessToken refreshToken idToken accessTokenExpiresAt refreshTokenExpiresAt scope password",
    indexes: ["userId", "accountId"],
    ofUser: ["userId"],
  },
  userPasskeys: {
    text: "id userId publicKey credentialID deviceType",
    textOrNull: "name transports createdAt aaguid",
    integer: "counter backedUp",
    indexes: ["userId", "credentialID"],
    ofUser: ["userId"],
  },
  verifications: {
    text: "id identifier value expiresAt createdAt updatedAt",
    indexes: ["identifier", "expiresAt"],
  },
  signingKeys: { text: "id publicKey privateKey createdAt", textOrNull: "expiresAt alg crv" },
  oauthClients: {
    text: "id clientId redirectUris",
    textOrNull: [
      "clientSecret clientDiscoveryId subjectType scopes clientCredentialsScopes userId createdAt updatedAt name uri",
      "icon contacts tos policy softwareId softwareVersion softwareStatement postLogoutRedirectUris",
      "backchannelLogoutUri tokenEndpointAuthMethod applicationType jwks jwksUri grantTypes responseTypes referenceId",
      "metadata",
    ].join(" "),
    integerOrNull:
      "disabled skipConsent enableEndSession backchannelLogoutSessionRequired requirePKCE dpopBoundAccessTokens",
    unique: ["clientId"],
    indexes: ["userId", "createdAt"],
    ofUser: ["userId"],
  },
  oauthResources: {
    text: "id identifier name",
    textOrNull: "signingAlgorithm signingKeyId allowedScopes customClaims createdAt updatedAt metadata",
    integerOrNull: "accessTokenTtl refreshTokenTtl dpopBoundAccessTokensRequired disabled policyVersion",
    unique: ["identifier"],
  },
  oauthClientResources: {
    text: "id clientId resourceId",
    textOrNull: "metadata createdAt",
    indexes: ["clientId", "resourceId"],
  },
  oauthRefreshTokens: {
    text: "id token clientId userId expiresAt createdAt scopes",
    textOrNull: [
      "sessionId referenceId authorizationCodeId resources requestedUserInfoClaims revoked rotatedAt",
      "rotationReplayResponse rotationReplayExpiresAt authTime confirmation",
    ].join(" "),
    unique: ["token"],
    indexes: ["clientId", "userId", "sessionId", "authorizationCodeId", "expiresAt"],
    ofUser: ["userId"],
  },
  oauthAccessTokens: {
    text: "id token clientId expiresAt createdAt scopes",
    textOrNull: [
      "userId sessionId referenceId authorizationCodeId resources requestedUserInfoClaims refreshId revoked",
      "confirmation",
    ].join(" "),
    unique: ["token"],
    indexes: ["clientId", "userId", "sessionId", "refreshId", "authorizationCodeId", "expiresAt"],
    ofUser: ["userId"],
  },
  oauthConsents: {
    text: "id clientId scopes createdAt updatedAt",
    textOrNull: "userId referenceId resources requestedUserInfoClaims",
    indexes: ["clientId", "userId"],
    ofUser: ["userId"],
  },
  oauthClientAssertions: { text: "id expiresAt", indexes: ["expiresAt"] },
};

/** Creates the tables of people who sign in, and of the authorization server. */
export async function up(db: Db): Promise<void> {
  for (const [name, table] of Object.entries(tables)) {
    await createTable(db, name, table);
    await createIndexes(db, name, table);
  }
}

async function createTable(db: Db, name: string, { key = "id", ofUser = [], ...columns }: TableDefinition) {
  let creating = db.schema.createTable(name);
  for (const column of split(columns.text)) creating = creating.addColumn(column, "text", (c) => c.notNull());
  for (const column of split(columns.textOrNull)) creating = creating.addColumn(column, "text");
  for (const column of split(columns.integer)) creating = creating.addColumn(column, "bigint", (c) => c.notNull());
  for (const column of split(columns.integerOrNull)) creating = creating.addColumn(column, "bigint");
  creating = creating.addPrimaryKeyConstraint(`${name}_key`, [key] as never);
  for (const column of ofUser) {
    creating = creating.addForeignKeyConstraint(`${name}_${column}`, [column] as never, "users", ["id"], (reference) =>
      reference.onDelete("cascade"),
    );
  }
  await creating.execute();
}

async function createIndexes(db: Db, name: string, { unique = [], indexes = [] }: TableDefinition): Promise<void> {
  for (const column of unique) {
    await db.schema.createIndex(`${name}_unique_${column}`).unique().on(name).column(column).execute();
  }
  for (const columns of indexes) {
    const names = split(columns);
    await db.schema.createIndex(`${name}_index_${names[0]}`).on(name).columns(names).execute();
  }
}

function split(names = ""): string[] {
  return names === "" ? [] : names.split(" ");
}

/** Only adds tables. */
export const since = "018_approvals";
