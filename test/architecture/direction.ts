/**
 * The rooms of `src` and what each may import, itself aside. Files at the top of `src` are rooms of their own;
 * the store's port is a room inside the store's folder.
 */
export const direction = {
  contract: [],
  lib: [],
  domain: ["contract", "lib"],
  port: ["contract", "lib"],
  store: ["port", "contract", "lib"],
  service: ["contract", "domain", "port", "lib"],
  pipeline: ["contract", "port", "lib"],
  upstream: ["contract", "pipeline", "lib"],
  tools: ["contract", "upstream", "lib"],
  resources: ["contract", "upstream", "lib"],
  pages: ["contract", "lib"],
  transport: ["contract", "pipeline", "upstream", "tools", "resources", "pages", "lib"],
  webhooks: ["contract", "pipeline", "port", "lib"],
  exports: ["contract", "pipeline", "port", "lib"],
  mail: ["contract", "pipeline", "port", "lib"],
  retention: ["contract", "pipeline", "port", "lib"],
  // Knows what is watched by its interface in `lib` alone: no other room imports it.
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
    "tools",
    "resources",
    "pages",
    "transport",
    "webhooks",
    "exports",
    "mail",
    "retention",
    "telemetry",
    "config",
  ],
  demo: ["contract", "domain", "port", "lib"],
  commands: ["app", "demo", "config", "contract", "port", "lib"],
  cli: ["app", "commands", "demo", "config", "contract", "lib"],
  main: ["cli", "lib"],
} as const satisfies Record<string, readonly string[]>;

export type Room = keyof typeof direction;

/** The files that handlers and the pipeline know the store by. */
export const portFiles = [
  "store/permit-leases.ts",
  "store/port.ts",
  "store/blobs/blob-store.ts",
  "store/peers.ts",
  "store/tables.ts",
  "store/handler-context.ts",
  "store/queues/outbox.ts",
  "store/queues/event-log.ts",
  "store/session-store.ts",
];

/** Packages that only some rooms may import; a name ending in a slash stands for a whole scope. */
export const confined: Readonly<Record<string, readonly Room[]>> = {
  "node:sqlite": ["store"],
  pg: ["store"],
  pgpass: ["store"],
  "pg-connection-string": ["lib", "store"],
  "@aws-sdk/": ["store"],
  kysely: ["store"],
  "@modelcontextprotocol/": ["tools", "resources", "transport"],
  undici: ["upstream", "webhooks"],
  hono: ["pages", "transport"],
  "@hono/": ["transport"],
  jose: ["transport"],
  commander: ["config", "cli"],
  nodemailer: ["mail"],
  pino: ["lib"],
  "pino-pretty": ["lib"],
  "prom-client": ["telemetry"],
  "@opentelemetry/": ["telemetry"],
};

/** The packages of rooms that do no I/O; every other room may import what is not confined elsewhere. */
export const packagesOf: Partial<Record<Room, readonly string[]>> = {
  contract: ["zod"],
  // A regular expression's time can be bounded only in there.
  domain: ["node:vm"],
};

/** Rooms that may write to stdout: over stdio it belongs to the protocol. */
export const speakers: readonly Room[] = ["cli", "commands"];
/** The file that carries the protocol there. */
export const wireFile = "transport/stdio/stdio-transport.ts";

export const maxFileLines = 400;
export const maxFunctionLines = 70;
export const refusedFolders = ["utils", "helpers", "common", "types"];
