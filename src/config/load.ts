import { homedir } from "node:os";
import { isAbsolute, join, resolve } from "node:path";
import { suggestWord } from "../lib/did-you-mean.ts";
import { isLoopback } from "../lib/http/loopback.ts";
import { isPostgresAddress } from "../lib/postgres-address.ts";
import { type DatabaseLocation, parseDatabaseLocation, refusePassword } from "./database.ts";
import type { Setting } from "./setting.ts";
import { type SignInConfig, toSignInConfig } from "./sign-in.ts";
import { type SettingName, settings, type table } from "./table.ts";
import { refuseUnknownVariables } from "./unknown-variable.ts";
import { UsageError } from "./usage-error.ts";
import { serviceUrl, type ValueType } from "./values.ts";
import { checkWebhookSettings } from "./webhooks.ts";

type Environment = Readonly<Record<string, string | undefined>>;
type Value<Entry> = Entry extends { type: ValueType<infer V> } ? V : never;
type Values = {
  readonly [Name in SettingName]:
    | Value<(typeof table)[Name]>
    | ((typeof table)[Name] extends { default: unknown } ? never : undefined);
};

/** Every setting, with its default applied. Paths are absolute. */
export interface Config
  extends Omit<Values, "dataDir" | "database" | "allowedHosts" | "allowedOrigins">,
    DatabaseLocation {
  readonly dataDir: string;
  readonly allowedHosts: readonly string[];
  readonly allowedOrigins: readonly string[];
  /** The storage of files, if it is not a directory beside the database. */
  readonly bucket: BucketConfig | undefined;
  /** This server has events: those of the embedded service, or of webhooks that it receives. */
  readonly hasEvents: boolean;
  /** The issuer whose tokens MCP over HTTP accepts. */
  readonly oauth: OAuthConfig | undefined;
  /** The external provider with which people sign in. */
  readonly signIn: SignInConfig | undefined;
}

interface OAuthConfig {
  readonly issuer: string;
  readonly jwksUri: string | undefined;
  /** The address of MCP, for which clients request tokens. */
  readonly resource: string;
  /** The value that tokens must have in `aud`. */
  readonly audience: string;
  /** The text before the names of scopes at the issuer. */
  readonly scopePrefix: string;
}

interface BucketConfig {
  readonly name: string;
  readonly region: string;
  readonly endpoint: string | undefined;
  readonly credentials: { readonly accessKeyId: string; readonly secretAccessKey: string } | undefined;
  readonly redirect: boolean;
}

/**
 * Reads the configuration. An option has priority over its variable, a variable over the default. Empty text counts as
 * not given.
 * @param options - a command's parsed options, by setting name; other options are ignored
 * @throws UsageError naming the first unknown `PROGRAMME_*` variable or invalid value
 */
export function loadConfig(env: Environment, options: Readonly<Record<string, unknown>> = {}): Config {
  refuseUnknownVariables(env);
  refusePassword(options["database"]);
  const values = Object.fromEntries(
    settings.map(([name, setting]) => [name, read(setting, env[setting.variable], options[name])]),
  ) as Values;
  return complete(values, env);
}

function read(setting: Setting, variable: string | undefined, option: unknown): unknown {
  const fromOption = option !== undefined && option !== "";
  const given = fromOption ? String(option) : variable;
  if (given === undefined || given === "") return setting.default;
  const parsed = setting.type.createSchema().safeParse(given);
  if (parsed.success) return parsed.data;
  const name = fromOption && setting.option ? getLongFlag(setting.option) : setting.variable;
  throw toUsageError(name, setting, given);
}

/** Returns the error for a value that a setting does not allow. */
export function toUsageError(name: string, { type, secret }: Setting, given: string): UsageError {
  const { allowed, choices, explain } = type;
  const wrong = choices ? findWrongChoice(given, choices) : given;
  const why = explain?.(given);
  const shown = secret ? "" : `, not ${JSON.stringify(wrong)}`;
  const hint = choices ? suggestWord(wrong, choices) : "";
  return new UsageError(`${name} must be ${allowed}${shown}${why === undefined ? "" : `: ${why}`}.${hint}`);
}

/** Returns the first of a list that does not exist. */
function findWrongChoice(given: string, choices: readonly string[]): string {
  const names = given.split(",").map((name) => name.trim());
  return names.find((name) => !choices.includes(name)) ?? given;
}

/** Reports whether the database is for trying things out: the default one, or one that is to get demonstration data. */
export function isDemo({ baseUrl, demo, databaseGiven }: Config): boolean {
  return baseUrl === undefined && (demo || !databaseGiven);
}

function getLongFlag(flags: string): string {
  return flags.replace(/ .*$/, "");
}

function complete(values: Values, env: Environment): Config {
  const dataDir = resolve(values.dataDir ?? getUserDataDir(env));
  // With a remote service, the database holds only this program's keys.
  const byDefault = join(dataDir, values.baseUrl === undefined ? "programme.db" : "remote.db");
  const allowedHosts = values.allowedHosts ?? (values.publicUrl ? [new URL(values.publicUrl).hostname] : []);
  if (!isLoopback(values.host) && allowedHosts.length === 0) {
    throw new UsageError(
      `PROGRAMME_ALLOWED_HOSTS is needed to listen on ${values.host}: name the hosts by which clients reach this server.`,
    );
  }
  if (values.smtpUrl !== undefined && values.mailFrom === undefined) {
    throw new UsageError("PROGRAMME_MAIL_FROM is needed with PROGRAMME_SMTP_URL: the address that messages come from.");
  }
  if (values.databaseReadReplicas !== undefined && !isPostgresAddress(values.database ?? "")) {
    throw new UsageError("PROGRAMME_DATABASE_READ_REPLICAS needs a PostgreSQL database in PROGRAMME_DATABASE.");
  }
  checkWebhookSettings(values);
  return {
    ...values,
    dataDir,
    ...parseDatabaseLocation(values.database, byDefault, dataDir),
    allowedHosts,
    allowedOrigins: [...(values.publicUrl ? [new URL(values.publicUrl).origin] : []), ...(values.allowedOrigins ?? [])],
    bucket: toBucketConfig(values),
    oauth: toOAuthConfig(values),
    signIn: toSignInConfig(values),
    hasEvents: values.baseUrl === undefined || Boolean(values.webhookSecrets ?? values.webhookReaders),
  };
}

function toOAuthConfig(values: Values): OAuthConfig | undefined {
  const {
    oauthIssuer: issuer,
    oauthJwksUri: jwksUri,
    oauthAudience,
    oauthScopePrefix,
    publicUrl,
    gatewayKeys,
    token,
  } = values;
  if (issuer === undefined) {
    if (jwksUri === undefined && oauthAudience === undefined && oauthScopePrefix === undefined) return undefined;
    throw new UsageError("PROGRAMME_OAUTH_ISSUER is needed with the other settings of OAuth.");
  }
  if (publicUrl === undefined || !serviceUrl.createSchema().safeParse(publicUrl).success) {
    throw new UsageError(
      "PROGRAMME_PUBLIC_URL is needed with PROGRAMME_OAUTH_ISSUER, with https unless it is on this machine: tokens are issued for that address.",
    );
  }
  if (gatewayKeys === undefined && token === undefined) {
    throw new UsageError(
      "PROGRAMME_OAUTH_ISSUER needs PROGRAMME_TOKEN or PROGRAMME_GATEWAY_KEYS: the access tokens that its callers use.",
    );
  }
  const resource = `${publicUrl}/mcp`;
  return { issuer, jwksUri, resource, audience: oauthAudience ?? resource, scopePrefix: oauthScopePrefix ?? "" };
}

function toBucketConfig(values: Values): BucketConfig | undefined {
  const { s3Bucket, s3Endpoint, s3Region, s3AccessKeyId, s3SecretAccessKey, s3Redirect } = values;
  if (s3Bucket === undefined) {
    if (s3Endpoint === undefined && s3AccessKeyId === undefined && s3SecretAccessKey === undefined) return undefined;
    throw new UsageError("PROGRAMME_S3_BUCKET is needed with the other settings of S3-compatible storage.");
  }
  const keyed = s3AccessKeyId !== undefined && s3SecretAccessKey !== undefined;
  if (!keyed && (s3AccessKeyId !== undefined || s3SecretAccessKey !== undefined)) {
    throw new UsageError(
      "PROGRAMME_S3_ACCESS_KEY_ID and PROGRAMME_S3_SECRET_ACCESS_KEY belong together: set both or none.",
    );
  }
  return {
    name: s3Bucket,
    region: s3Region,
    endpoint: s3Endpoint,
    credentials: keyed ? { accessKeyId: s3AccessKeyId, secretAccessKey: s3SecretAccessKey } : undefined,
    redirect: s3Redirect,
  };
}

/** Returns the user's directory for data, by the convention of the platform. */
export function getUserDataDir(
  env: Environment,
  platform: NodeJS.Platform = process.platform,
  home = homedir(),
): string {
  if (platform === "darwin") return join(home, "Library", "Application Support", "programme-mcp");
  if (platform === "win32") return join(env["LOCALAPPDATA"] || join(home, "AppData", "Local"), "programme-mcp");
  const dataHome = env["XDG_DATA_HOME"];
  return join(dataHome && isAbsolute(dataHome) ? dataHome : join(home, ".local", "share"), "programme-mcp");
}
