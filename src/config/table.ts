import { limits } from "../contract/access/limits.ts";
import { scopes } from "../contract/access/scopes.ts";
import { tokenPattern } from "../contract/access/token-format.ts";
import { keyPattern } from "../lib/crypto/key-format.ts";
import { logFormats, logLevels } from "../lib/log.ts";
import { agentSettings } from "./agents.ts";
import { databaseSettings } from "./database.ts";
import { gatewaySettings } from "./gateway.ts";
import { listeningSettings } from "./listening.ts";
import { mailSettings } from "./mail.ts";
import { operationSettings } from "./operation.ts";
import { commandNames, type Setting } from "./setting.ts";
import { signInSettings } from "./sign-in.ts";
import {
  baseUrl,
  boolean,
  createChoiceType,
  createIntegerType,
  createListType,
  createPatternType,
  createTextType,
  filePath,
  serviceUrl,
} from "./values.ts";
import { webhookSettings } from "./webhooks.ts";

const everywhere = commandNames;
const serving = ["stdio", "http", "console"] as const;
const listening = ["http", "console"] as const;
/** Commands that work on a service. */
const using = ["stdio", "http", "console", "doctor"] as const;
/** Commands that may write files. */
const keeping = ["stdio", "http", "console", "token", "portal", "simulate", "seed"] as const;
/** Commands that send webhooks. */
const sending = ["stdio", "http", "console", "webhook"] as const;

/** Declares every setting. The configuration, the options and `docs/configuration.md` are derived from it. */
export const table = {
  dataDir: {
    variable: "PROGRAMME_DATA_DIR",
    group: "Data",
    option: "--data-dir <directory>",
    type: createTextType("a directory"),
    defaultText: "`programme-mcp` in the user's data directory",
    help: "The directory of the database and of what belongs to it: files, finished exports, messages, keys.",
    commands: everywhere,
  },
  ...databaseSettings,
  baseUrl: {
    variable: "PROGRAMME_BASE_URL",
    group: "Service",
    option: "--base-url <address>",
    type: serviceUrl,
    defaultText: "none: the embedded service",
    secret: true,
    help: "The base address of a remote service, without `/integrations/v1`. Tools call it instead of the embedded service. It must be `https` unless it is on this machine.",
    commands: using,
  },
  scopes: {
    variable: "PROGRAMME_SCOPES",
    group: "Service",
    option: "--scopes <scopes>",
    type: createListType(scopes, "scopes"),
    defaultText: "learnt from refusals; `persons:sensitive:read` is assumed only if it is listed here",
    help: "The scopes of the token at the remote service, which does not report them.",
    commands: using,
  },
  caFile: {
    variable: "PROGRAMME_CA_FILE",
    group: "Service",
    option: "--ca-file <file>",
    type: filePath,
    defaultText: "the usual certificates",
    help: "A file of PEM certificates that replaces the usual ones for the remote service.",
    commands: using,
  },
  s3Bucket: {
    variable: "PROGRAMME_S3_BUCKET",
    group: "Data",
    option: "--s3-bucket <name>",
    type: createPatternType(
      /^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/,
      "the name of a bucket: 3 to 63 of a-z, 0-9, dots and hyphens",
    ),
    defaultText: "none: directories beside the database",
    help: "A bucket of S3-compatible storage for files and finished exports.",
    commands: keeping,
  },
  s3Endpoint: {
    variable: "PROGRAMME_S3_ENDPOINT",
    group: "Data",
    option: "--s3-endpoint <address>",
    type: baseUrl,
    defaultText: "Amazon's own",
    secret: true,
    help: "The address of the S3-compatible service. Its addresses name the bucket in the path.",
    commands: keeping,
  },
  s3Region: {
    variable: "PROGRAMME_S3_REGION",
    group: "Data",
    option: "--s3-region <name>",
    type: createPatternType(/^[a-z0-9-]{1,50}$/, "the name of a region"),
    default: "us-east-1",
    help: "The bucket's region. Most services other than Amazon's accept any.",
    commands: keeping,
  },
  s3AccessKeyId: {
    variable: "PROGRAMME_S3_ACCESS_KEY_ID",
    group: "Data",
    option: "--s3-access-key-id <id>",
    type: createTextType("the id of an access key"),
    defaultText: "found where Amazon's tools look for credentials",
    help: "The id of the access key for the bucket; `PROGRAMME_S3_SECRET_ACCESS_KEY` has its secret.",
    commands: keeping,
  },
  s3SecretAccessKey: {
    variable: "PROGRAMME_S3_SECRET_ACCESS_KEY",
    group: "Data",
    type: createTextType("the secret of an access key"),
    defaultText: "found where Amazon's tools look for credentials",
    secret: true,
    help: "The secret of `PROGRAMME_S3_ACCESS_KEY_ID`. Has no option, because other users can see a process's arguments.",
    commands: keeping,
  },
  s3Redirect: {
    variable: "PROGRAMME_S3_REDIRECT",
    group: "Data",
    option: "--s3-redirect",
    type: boolean,
    default: false,
    help: "Redirect downloads to the bucket, with a signed address that is valid for a minute. The bucket must be reachable for anyone who downloads. By default, content passes through this server, which verifies it.",
    commands: serving,
  },
  timeoutSeconds: {
    variable: "PROGRAMME_TIMEOUT_SECONDS",
    group: "Service",
    option: "--timeout-seconds <number>",
    type: createIntegerType(1, 600),
    default: 45,
    help: "The time limit of one call to the remote service, retries included; many clients give up after 60 seconds.",
    commands: using,
  },
  demo: {
    variable: "PROGRAMME_DEMO",
    group: "Data",
    option: "--demo",
    type: boolean,
    default: false,
    help: "Fill an empty database with invented demonstration data.",
    commands: ["stdio", "http", "token"],
  },
  ...mailSettings,
  ...gatewaySettings,
  ...signInSettings,
  token: {
    variable: "PROGRAMME_TOKEN",
    group: "Service",
    type: createPatternType(tokenPattern, "64 hexadecimal digits"),
    defaultText: "none",
    secret: true,
    help: "The access token for calls over stdio. Over HTTP, it is the token of callers of `PROGRAMME_GATEWAY_KEYS` and `PROGRAMME_OAUTH_ISSUER` that have no token of their own. Has no option, because other users can see a process's arguments.",
    commands: ["stdio", "http", "tools", "doctor"],
  },
  ...listeningSettings,
  logLevel: {
    variable: "PROGRAMME_LOG_LEVEL",
    group: "Log",
    option: "--log-level <level>",
    type: createChoiceType(logLevels),
    default: "info",
    help: "The least severe level to log. Log lines go to stderr.",
    commands: everywhere,
  },
  logFormat: {
    variable: "PROGRAMME_LOG_FORMAT",
    group: "Log",
    option: "--log-format <format>",
    type: createChoiceType(logFormats),
    default: "auto",
    help: "`auto` is `pretty` on a terminal where pino-pretty is installed, `json` elsewhere.",
    commands: everywhere,
  },
  ...agentSettings,
  requestsPerMinute: {
    variable: "PROGRAMME_REQUESTS_PER_MINUTE",
    group: "Limits",
    option: "--requests-per-minute <number>",
    type: createIntegerType(1, 1_000_000),
    default: limits.requestsPerMinute,
    help: "The number of requests that one token may make in any minute.",
    commands: serving,
  },
  exportIntervalSeconds: {
    variable: "PROGRAMME_EXPORT_INTERVAL_SECONDS",
    group: "Limits",
    option: "--export-interval-seconds <number>",
    type: createIntegerType(0, 86_400),
    default: limits.exportIntervalSeconds,
    help: "The shortest time between two exports of one token.",
    commands: serving,
  },
  idempotencyStrict: {
    variable: "PROGRAMME_IDEMPOTENCY_STRICT",
    group: "Limits",
    option: "--idempotency-strict",
    type: boolean,
    default: false,
    help: "Refuse a request whose idempotency key was used for a different request. By default, the request runs.",
    commands: serving,
  },
  maxBodyBytes: {
    variable: "PROGRAMME_MAX_BODY_BYTES",
    group: "Limits",
    option: "--max-body-bytes <number>",
    type: createIntegerType(1024, 64 * 1024 * 1024),
    default: limits.maxBodyBytes,
    help: "The largest request body that is accepted.",
    commands: listening,
  },
  maxSessions: {
    variable: "PROGRAMME_MAX_SESSIONS",
    group: "Limits",
    option: "--max-sessions <number>",
    type: createIntegerType(0, 100_000),
    default: 1000,
    help: "The number of sessions of 2025-era MCP clients in one process that keep a stream open for notifications. Further streams are refused. Sessions without a stream cost nothing and are not counted.",
    commands: listening,
  },
  secretKey: {
    variable: "PROGRAMME_SECRET_KEY",
    group: "Webhooks",
    type: createPatternType(keyPattern, "64 hexadecimal digits"),
    defaultText:
      "read from `programme.db.key` beside the database, which the first start creates, readable by its owner only",
    secret: true,
    help: "The key that encrypts the signing secrets of webhooks in the database: `openssl rand -hex 32` creates one. Without it, they cannot be read. All processes on one database need the same key. Has no option, because other users can see a process's arguments.",
    commands: sending,
  },
  webhookLoopback: {
    variable: "PROGRAMME_WEBHOOK_LOOPBACK",
    group: "Webhooks",
    option: "--webhook-loopback",
    type: boolean,
    default: false,
    help: "Also allow webhooks to this machine, over plain http too: for tests. Other private and reserved addresses are always refused.",
    commands: sending,
  },
  webhookConcurrency: {
    variable: "PROGRAMME_WEBHOOK_CONCURRENCY",
    group: "Webhooks",
    option: "--webhook-concurrency <number>",
    type: createIntegerType(2, 1_000),
    default: 100,
    help: "The number of concurrent webhook deliveries. A quarter of them is reserved for receivers that fail or are slow. Deliveries that hang give way to others, so at worst twice as many connections are open.",
    commands: serving,
  },
  ...webhookSettings,
  ...operationSettings,
  accessLogDays: {
    variable: "PROGRAMME_ACCESS_LOG_DAYS",
    group: "Log",
    option: "--access-log-days <number>",
    type: createIntegerType(1, 36_500),
    default: 400,
    help: "The number of days that the audit log keeps requests that changed nothing. Changes are kept for ever.",
    commands: serving,
  },
  maxConcurrentRequests: {
    variable: "PROGRAMME_MAX_CONCURRENT_REQUESTS",
    group: "Limits",
    option: "--max-concurrent-requests <number>",
    type: createIntegerType(1, 65_536),
    default: 256,
    help: "The number of concurrent requests; further requests are answered 503.",
    commands: listening,
  },
} as const satisfies Record<string, Setting>;

export type SettingName = keyof typeof table;

/** The entries of the table, under their common type. */
export const settings: readonly (readonly [SettingName, Setting])[] = Object.entries(table) as [SettingName, Setting][];

/** Returns a setting's default in words. */
export function describeDefault(setting: Setting): string {
  return setting.defaultText ?? `\`${setting.default}\``;
}
