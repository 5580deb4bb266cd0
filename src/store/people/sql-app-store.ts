import type { ConnectedApp } from "../../contract/access/connected-apps.ts";
import { toTextOrNull } from "../../lib/json-value.ts";
import type { Db } from "../database.ts";
import type { Engine } from "../engine.ts";
import type { AppAccess, AppStore } from "./app-store.ts";
import { toUser } from "./sql-user-store.ts";

/** Clients that are deleted at once. More are never over the limit, because each registration keeps it. */
const maxEvicted = 100;

type Row = Readonly<Record<string, unknown>>;

/** Tables with what an app loses when its connection ends. */
const ofConnection = ["oauthAccessTokens", "oauthRefreshTokens", "oauthConsents"] as const;

export function createAppStore({ read, transact }: Pick<Engine, "read" | "transact">): AppStore {
  return {
    async findAccess(sha256, now) {
      const row = await read
        .selectFrom("oauthAccessTokens as token")
        .innerJoin("oauthConsents as consent", (join) =>
          join.onRef("consent.clientId", "=", "token.clientId").onRef("consent.userId", "=", "token.userId"),
        )
        .innerJoin("users", "users.id", "token.userId")
        .selectAll("users")
        .select(["consent.id as connectionId", "consent.scopes as allowed"])
        .select(["token.scopes as scopes", "token.resources as resources"])
        .where("token.token", "=", sha256)
        .where("token.expiresAt", ">", now)
        .where("token.revoked", "is", null)
        .where("users.disabledAt", "is", null)
        .where((eb) => eb.or([eb("consent.expiresAt", "is", null), eb("consent.expiresAt", ">", now)]))
        .executeTakeFirst();
      return row && toAccess(row);
    },

    async find(userId, clientId) {
      const own = select(read).where("consent.userId", "=", userId).where("consent.clientId", "=", clientId);
      const row = await own.executeTakeFirst();
      return row && toConnectedApp(row);
    },

    async get(connectionId) {
      const row = await select(read).where("consent.id", "=", connectionId).executeTakeFirst();
      return row && toConnectedApp(row);
    },

    async list(userId) {
      const rows = await select(read).where("consent.userId", "=", userId).orderBy("consent.createdAt").execute();
      return rows.map(toConnectedApp);
    },

    async listOfBusiness(businessId) {
      const people = read.selectFrom("users").select("id").where("businessId", "=", businessId);
      const rows = await select(read).where("consent.userId", "in", people).orderBy("consent.createdAt").execute();
      return rows.map(toConnectedApp);
    },

    ...createConnectionEnds(read, transact),

    async evictClients(kept) {
      const old = selectUnused(read).orderBy("createdAt", "desc").offset(kept).limit(maxEvicted);
      await deleteClients(transact, (await old.execute()).map(getId));
    },

    async sweepClients(before, limit) {
      const old = selectUnused(read).where("createdAt", "<", before).orderBy("createdAt").limit(limit);
      return deleteClients(transact, (await old.execute()).map(getId));
    },
  };
}

type ConnectionEnds = Pick<AppStore, "setExpiry" | "end" | "endExpired">;

function createConnectionEnds(read: Db, transact: Engine["transact"]): ConnectionEnds {
  return {
    async setExpiry(userId, clientId, expiresAt) {
      await transact((db) =>
        db
          .updateTable("oauthConsents")
          .set({ expiresAt })
          .where("userId", "=", userId)
          .where("clientId", "=", clientId)
          .execute(),
      );
    },

    end: (userId, connectionId) =>
      transact(async (db) => {
        const own = select(db).where("consent.userId", "=", userId).where("consent.id", "=", connectionId);
        const row = await own.executeTakeFirst();
        if (!row) return undefined;
        const app = toConnectedApp(row);
        await deleteConnection(db, app);
        return app;
      }),

    async endExpired(now) {
      const selectExpired = (db: Db) => select(db).where("consent.expiresAt", "<=", now);
      if (!(await selectExpired(read).limit(1).executeTakeFirst())) return 0;
      return transact(async (db) => {
        const expired = await selectExpired(db).execute();
        for (const row of expired) await deleteConnection(db, toConnectedApp(row));
        return expired.length;
      });
    },
  };
}

function select(db: Db) {
  return db
    .selectFrom("oauthConsents as consent")
    .leftJoin("oauthClients as client", "client.clientId", "consent.clientId")
    .select([
      "consent.id as connectionId",
      "consent.userId as userId",
      "consent.clientId as clientId",
      "consent.scopes as scopes",
      "consent.createdAt as connectedAt",
      "consent.expiresAt as expiresAt",
      "consent.lastUsedAt as lastUsedAt",
      "client.name as name",
      "client.redirectUris as redirectUris",
    ]);
}

async function deleteConnection(db: Db, { userId, clientId }: ConnectedApp): Promise<void> {
  for (const table of ofConnection) {
    await db.deleteFrom(table).where("userId", "=", userId).where("clientId", "=", clientId).execute();
  }
}

/** Selects the clients that no one has connected. */
function selectUnused(db: Db) {
  const used = db.selectFrom("oauthConsents").select("clientId");
  return db.selectFrom("oauthClients").select("id").where("clientId", "not in", used);
}

async function deleteClients(transact: Engine["transact"], ids: readonly unknown[]): Promise<number> {
  if (ids.length > 0) await transact((db) => db.deleteFrom("oauthClients").where("id", "in", ids).execute());
  return ids.length;
}

function getId({ id }: Row): unknown {
  return id;
}

function toAccess({ connectionId, scopes, allowed, resources, ...user }: Row): AppAccess {
  const last = new Set(parseList(allowed));
  return {
    connectionId: String(connectionId),
    user: toUser(user),
    scopes: parseList(scopes).filter((scope) => last.has(scope)),
    resources: parseList(resources),
  };
}

function toConnectedApp(row: Row): ConnectedApp {
  const { connectionId, userId, clientId, name, redirectUris, scopes, connectedAt, expiresAt, lastUsedAt } = row;
  return {
    connectionId: String(connectionId),
    userId: String(userId),
    clientId: String(clientId),
    name: String(name ?? ""),
    redirectUris: parseList(redirectUris),
    scopes: parseList(scopes),
    connectedAt: String(connectedAt),
    expiresAt: toTextOrNull(expiresAt),
    lastUsedAt: toTextOrNull(lastUsedAt),
  };
}

/** Parses a list as better-auth stores it. */
function parseList(stored: unknown): string[] {
  return stored === null || stored === undefined ? [] : (JSON.parse(String(stored)) as string[]);
}
