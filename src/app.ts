import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Config } from "./config/load.ts";
import type { OperationName } from "./contract/index.ts";
import { createChangeFeed } from "./gate/changes.ts";
import { createGate, type Gate } from "./gate/invoke.ts";
import { createLinks } from "./gate/links.ts";
import { type Clock, systemClock } from "./lib/clock.ts";
import { createLogger, type Log } from "./lib/log.ts";
import { version } from "./lib/version.ts";
import { handlers } from "./service/index.ts";
import { openContentDirectory } from "./store/content.ts";
import { openStore } from "./store/open.ts";
import type { ContentStore, Store } from "./store/port.ts";
import type { ConfirmationPolicy } from "./tools/session.ts";
import { withheldBy } from "./tools/offer.ts";
import type { FileLinks } from "./transport/files.ts";
import { type HttpServer, listen } from "./transport/http.ts";
import { createMcpEndpoint } from "./transport/mcp.ts";
import { openapiDocument } from "./transport/openapi.ts";
import { createRestApp } from "./transport/rest.ts";
import { createServerFactory, type ServerFactory } from "./transport/server.ts";
import { connectStdio, type StdioConnection, type Wire } from "./transport/stdio.ts";
import { createBlindUpstream } from "./upstream/blind.ts";
import { createEmbeddedUpstream } from "./upstream/embedded.ts";
import { createHandles } from "./upstream/handles.ts";
import { createHttpClient } from "./upstream/http-client.ts";
import type { Upstream } from "./upstream/port.ts";
import { createRemoteUpstream } from "./upstream/remote.ts";

export { toolCosts } from "./tools/costs.ts";

/** The whole program, put together from its configuration. */
export interface App {
  readonly store: Store;
  readonly content: ContentStore;
  readonly gate: Gate;
  readonly upstream: Upstream;
  readonly log: Log;
  /** Serves REST and MCP on the configured host and port. */
  listen(): Promise<HttpServer>;
  /** Serves one MCP connection as this token, on stdin and stdout unless it is given another wire. */
  connectStdio(token: string, wire?: Wire): StdioConnection;
  /** Makes the MCP server of a connection that carries no token itself. */
  mcpServer(token: string | undefined): ServerFactory;
  close(): Promise<void>;
}

/** What tests replace. */
export interface Replacements {
  readonly clock?: Clock;
  readonly log?: Log;
}

export async function createApp(config: Config, { clock = systemClock, ...rest }: Replacements = {}): Promise<App> {
  const log = rest.log ?? createLogger({ level: config.logLevel, format: config.logFormat });
  const store = await openStore({ database: config.database });
  const inMemory = config.database === ":memory:";
  const contentDirectory = inMemory ? await mkdtemp(join(tmpdir(), "programme-")) : `${config.database}.files`;
  const content = openContentDirectory(contentDirectory);

  let server: HttpServer | undefined;
  let linkServer: Promise<HttpServer> | undefined;
  const links = createLinks(store, clock, async () => config.publicUrl ?? (await servingLinks()).origin);
  const gate = createGate({ store, handlers, links, clock, log, options: config });
  const changes = createChangeFeed({ store, identify: gate.identify, clock, log });
  const handlesSecret = await store.secret("handles");
  const handlesOf = (realm: string) => createHandles(handlesSecret, realm);
  const remote =
    config.baseUrl === undefined ? undefined : connectRemote(config, config.baseUrl, { store, clock, log });
  const bare = remote?.upstream ?? createEmbeddedUpstream(gate, changes);
  const upstream = createBlindUpstream(bare, config.privacy, handlesOf);
  const files: FileLinks = {
    async fileOf({ fileId, query }) {
      const file = await links.verifyFile(fileId, query);
      return file && content.has(file.sha256) ? { ...file, open: () => content.open(file.sha256) } : undefined;
    },
  };

  /** Over stdio nothing listens yet when the first link is made: then a port for links alone is opened. */
  function servingLinks(): Promise<HttpServer> {
    if (server) return Promise.resolve(server);
    linkServer ??= listen({ ...config, host: "127.0.0.1", port: 0 }, { files, log });
    return linkServer;
  }

  const { mcpServer, withheld } = await connectAgents(config, upstream, { store, clock, log });
  const { maxBodyBytes } = config;
  const mcp = createMcpEndpoint({
    ...config,
    factory: mcpServer(undefined),
    upstream,
    withheldBy: withheld,
    log,
    clock,
  });

  return {
    store,
    content,
    gate,
    upstream,
    log,
    mcpServer,
    async listen() {
      const openapi = JSON.stringify(openapiDocument());
      // The REST interface is the embedded service's; the product serves its own.
      const rest = remote ? {} : { rest: createRestApp({ gate, log, maxBodyBytes, openapi }) };
      server = await listen(config, { ...rest, mcp, files, log });
      return server;
    },
    connectStdio: (token, wire) =>
      connectStdio({ factory: mcpServer(token), upstream, withheldBy: withheld, token, log }, wire),
    async close() {
      await mcp.close();
      await server?.close();
      await (await linkServer)?.close();
      await remote?.client.close();
      await changes.close();
      await gate.close();
      await store.close();
      if (inMemory) await rm(contentDirectory, { recursive: true, force: true });
    },
  };
}

interface Local {
  readonly store: Store;
  readonly clock: Clock;
  readonly log: Log;
}

/** How agents meet the service: what they are offered, and when somebody is asked first. */
async function connectAgents(config: Config, upstream: Upstream, { store, clock, log }: Local) {
  const withheld = (name: OperationName) => withheldBy(config, name);
  const confirmation: ConfirmationPolicy = {
    posture: config.confirm,
    approved: new Set(config.approvedTools),
    key: await store.secret("confirmations"),
    now: () => clock.now(),
  };
  const common = { upstream, version, log, confirmation, settings: config, withheldBy: withheld };
  return { withheld, mcpServer: (token: string | undefined) => createServerFactory({ ...common, token }) };
}

/** The product's own service as an upstream; what must be remembered of it is in the local store. */
export function connectRemote(config: Config, baseUrl: string, { store, clock, log }: Local) {
  const client = createHttpClient({ origin: new URL(baseUrl).origin, caFile: config.caFile, env: process.env });
  const upstream = createRemoteUpstream({
    ...config,
    baseUrl,
    client,
    clock,
    log,
    spend: (realm, { nonce, expiresAt }) =>
      store.transaction({ businessId: realm, actorId: "remote", now: clock.now().toISOString() }, (transaction) =>
        transaction.spend(nonce, expiresAt),
      ),
  });
  return { client, upstream };
}
