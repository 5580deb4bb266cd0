import { connectAgents } from "./app/agents.ts";
import { connectCallers, type Door } from "./app/callers.ts";
import { connectEmbedded, type People, serverKeyOf, type Webhooks } from "./app/embedded.ts";
import { webhookInlet } from "./app/inlet.ts";
import { connectProduct } from "./app/product.ts";
import type { Config } from "./config/load.ts";
import type { ExportWorker } from "./exports/worker.ts";
import { createChangeFeed } from "./gate/changes.ts";
import { createDownloads } from "./gate/downloads.ts";
import { createGate, type Gate } from "./gate/invoke.ts";
import { createLinks } from "./gate/links.ts";
import { type Clock, systemClock } from "./lib/clock.ts";
import { createLogger, type Log } from "./lib/log.ts";
import { handlers } from "./service/index.ts";
import { openContent } from "./store/content-open.ts";
import { openStore } from "./store/open.ts";
import type { ContentStore, Store } from "./store/port.ts";
import { type HttpServer, listen } from "./transport/http.ts";
import { openapiDocument } from "./transport/openapi.ts";
import { createRestHandler } from "./transport/rest.ts";
import type { ServerFactory } from "./transport/server.ts";
import { connectStdio, type StdioConnection, type Wire } from "./transport/stdio.ts";
import { createBlindUpstream } from "./upstream/blind.ts";
import { createEmbeddedUpstream } from "./upstream/embedded.ts";
import { createHandles } from "./upstream/handles.ts";
import type { Upstream } from "./upstream/port.ts";

export { connectRemote } from "./app/product.ts";
export { toolCosts } from "./tools/costs.ts";
export type { People, Webhooks };

/** The whole program, put together from its configuration. */
export interface App {
  readonly store: Store;
  readonly content: ContentStore;
  readonly gate: Gate;
  readonly upstream: Upstream;
  readonly log: Log;
  /** What the embedded service sends; the product sends its own webhooks. */
  readonly webhooks: Webhooks | undefined;
  /** What works off the embedded service's exports. */
  readonly exports: ExportWorker | undefined;
  /** Where the embedded service's applicants, reviewers and staff act, and how mail reaches them. */
  readonly people: People | undefined;
  /**
   * Starts the work that goes on beside requests; `close` ends it.
   * @throws Error when the server key cannot be had
   */
  startWorkers(): void;
  /**
   * Serves REST and MCP on the configured host and port.
   * @throws UsageError when the gateway keys cannot be used
   */
  listen(): Promise<HttpServer>;
  /** Reads the gateway keys again at once, where there are any. */
  reloadKeys(): void;
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
  const places = await openContent(config.database, config.bucket);

  let server: HttpServer | undefined;
  let door: Door | undefined;
  let linkServer: Promise<HttpServer> | undefined;
  const links = createLinks(store, clock, async () => config.publicUrl ?? (await servingLinks()).origin);
  const gate = createGate({ store, handlers, links, clock, log, options: config });
  const changes = createChangeFeed({ store, identify: gate.identify, clock, log });
  const remote = connectProduct(config, { store, clock, log });
  const serverKey = serverKeyOf(config);
  const embedded = remote ? undefined : connectEmbedded(config, serverKey, places, { store, clock, log });
  const { webhooks, exports, people, workers = [] } = embedded ?? {};
  const bare = remote?.upstream ?? createEmbeddedUpstream(gate, changes);
  const upstream = createBlindUpstream(bare, config.privacy, await handlesIn(store));
  const downloads = createDownloads({ ...places, links, store, log });
  const faces = { downloads, invitations: people?.invitations, log };

  /** Over stdio nothing listens yet when the first link is made: then a port for links alone is opened. */
  function servingLinks(): Promise<HttpServer> {
    if (server) return Promise.resolve(server);
    linkServer ??= listen({ ...config, host: "127.0.0.1", port: 0 }, faces);
    return linkServer;
  }

  const { mcpEndpoint, mcpServer, withheld } = await connectAgents(config, upstream, { store, clock, log });

  return {
    store,
    content: places.content,
    gate,
    upstream,
    log,
    webhooks,
    exports,
    people,
    mcpServer,
    startWorkers() {
      if (workers.length > 0) serverKey();
      for (const worker of workers) worker.start();
    },
    async listen() {
      // The REST interface is the embedded service's; the product serves its own.
      const openapi = JSON.stringify(openapiDocument());
      const rest = remote ? {} : { rest: createRestHandler({ ...config, gate, log, openapi }) };
      const callers = connectCallers(config, upstream, { clock, log });
      door = { ...callers, mcp: mcpEndpoint(callers) };
      const inlet = await webhookInlet(config, remote?.webhooks, { store, clock, log });
      server = await listen(config, { ...rest, ...faces, ...door, webhooks: inlet });
      return server;
    },
    reloadKeys: () => door?.keys?.reload(),
    connectStdio: (token, wire) =>
      connectStdio({ factory: mcpServer(token), upstream, withheldBy: withheld, token, log }, wire),
    async close() {
      await door?.mcp.close();
      await door?.issuer?.close();
      await server?.close();
      await (await linkServer)?.close();
      await remote?.close();
      await Promise.all(workers.map((worker) => worker.stop()));
      await changes.close();
      await gate.close();
      await store.close();
      await places.close();
    },
  };
}

/** Makes the handles that agents see of people, for each realm its own. */
async function handlesIn(store: Store) {
  const secret = await store.secret("handles");
  return (realm: string) => createHandles(secret, realm);
}
