/**
 * The folders of `src` and the other folders that each may import. A file at the top of `src` counts as a folder, and so
 * does the store's port.
 */
export const direction = {
  contract: [],
  lib: [],
  domain: ["contract", "lib"],
  port: ["contract", "lib"],
  store: ["port", "contract", "lib"],
  service: ["contract", "domain", "port", "lib"],
  pipeline: ["contract", "port", "lib"],
  approvals: ["contract", "pipeline", "port", "lib"],
  upstream: ["contract", "domain", "pipeline", "lib"],
  workflows: ["contract", "domain", "upstream", "lib"],
  tools: ["contract", "domain", "upstream", "approvals", "views", "lib"],
  resources: ["contract", "upstream", "approvals", "views", "lib"],
  identity: ["contract", "pipeline", "port", "lib"],
  pages: ["contract", "lib"],
  views: ["contract", "pages"],
  transport: [
    "contract",
    "approvals",
    "pipeline",
    "upstream",
    "tools",
    "resources",
    "webhooks",
    "mail",
    "imports",
    "pages",
    "views",
    "identity",
    "port",
    "lib",
  ],
  webhooks: ["contract", "pipeline", "port", "lib"],
  exports: ["contract", "pipeline", "port", "lib"],
  mail: ["contract", "pipeline", "port", "lib"],
  imports: ["contract", "service", "pipeline", "port", "lib"],
  retention: ["contract", "pipeline", "port", "lib"],
  indexing: ["port", "lib"],
  // Other folders know it only by the interface in `lib/telemetry.ts`.
  telemetry: ["contract", "lib"],
  config: ["contract", "lib"],
  app: [
    "contract",
    "lib",
    "domain",
    "port",
    "store",
    "service",
    "pipeline",
    "upstream",
    "approvals",
    "workflows",
    "tools",
    "resources",
    "pages",
    "identity",
    "transport",
    "webhooks",
    "exports",
    "mail",
    "retention",
    "indexing",
    "imports",
    "telemetry",
    "config",
  ],
  demo: ["contract", "port", "service", "pipeline", "lib"],
  commands: ["app", "demo", "imports", "config", "contract", "port", "lib"],
  cli: ["app", "commands", "demo", "config", "contract", "lib"],
  main: ["cli", "lib"],
} as const satisfies Record<string, readonly string[]>;

export type Folder = keyof typeof direction;

/** The files that make up the store's port: the part of the store that other folders know. */
export const portFiles = [
  "store/coordination/rate-limit-leases.ts",
  "store/port.ts",
  "store/search/candidates.ts",
  "store/blobs/blob-store.ts",
  "store/coordination/peers.ts",
  "store/tables.ts",
  "store/handler-context.ts",
  "store/queues/outbox.ts",
  "store/queues/work-queues.ts",
  "store/queues/event-log.ts",
  "store/coordination/session-store.ts",
  "store/people/app-store.ts",
  "store/people/product-token-store.ts",
  "store/people/user-store.ts",
];

/** Packages that only these folders may import. A name that ends in a slash is a scope. */
export const confined: Readonly<Record<string, readonly Folder[]>> = {
  "node:sqlite": ["store"],
  pg: ["store"],
  pgpass: ["store"],
  "pg-connection-string": ["lib", "store"],
  "@aws-sdk/": ["store"],
  kysely: ["port", "store"],
  "better-auth": ["identity"],
  "@better-auth/": ["identity"],
  "@modelcontextprotocol/": ["tools", "resources", "views", "transport"],
  undici: ["upstream", "webhooks"],
  hono: ["pages", "views", "transport"],
  "@hono/": ["transport"],
  jose: ["transport"],
  commander: ["config", "cli"],
  yaml: ["imports"],
  "csv-parse": ["imports"],
  nodemailer: ["mail"],
  pino: ["lib"],
  "pino-pretty": ["lib"],
  "prom-client": ["telemetry"],
  "@opentelemetry/": ["telemetry"],
};

/** The only packages that a folder without I/O may import. Other folders may import every package that is not confined. */
export const packagesOf: Partial<Record<Folder, readonly string[]>> = {
  contract: ["zod"],
  // Bounds the time of a regular expression.
  domain: ["node:vm"],
};

/** Folders that may write to stdout, which belongs to the protocol over stdio. */
export const stdoutFolders: readonly Folder[] = ["cli", "commands"];
/** The file that writes the protocol to stdout. */
export const stdoutFile = "transport/stdio/stdio-transport.ts";

export const maxFileLines = 400;
export const maxFunctionLines = 70;
export const maxFolderFiles = 20;
export const refusedFolders = ["utils", "helpers", "common", "types"];
