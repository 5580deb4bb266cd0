import type { Config } from "../config/load.ts";
import type { ExportWorker } from "../exports/worker.ts";
import { systemClock } from "../lib/clock.ts";
import type { Log } from "../lib/log.ts";
import { createChangeFeed } from "../pipeline/change-feed.ts";
import { createDownloads } from "../pipeline/downloads.ts";
import { createPipeline, type OperationPipeline } from "../pipeline/execute.ts";
import { createSignedUrls } from "../pipeline/signed-urls.ts";
import { createTokenAdmin, type TokenAdmin } from "../pipeline/tokens.ts";
import { handlers } from "../service/index.ts";
import { openBlobStore } from "../store/blobs/open-blob-store.ts";
import type { ContentStore, Store } from "../store/port.ts";
import type { MetricsServer } from "../transport/http/metrics-server.ts";
import type { HttpServer } from "../transport/http/server.ts";
import type { ServerFactory } from "../transport/mcp-server.ts";
import { connectStdio, type StdioConnection, type Wire } from "../transport/stdio/connect-stdio.ts";
import { createEmbeddedUpstream } from "../upstream/embedded.ts";
import type { Upstream } from "../upstream/port.ts";
import { createPseudonymizingUpstream } from "../upstream/privacy/pseudonymizing-upstream.ts";
import { loadPseudonymizer } from "../upstream/privacy/pseudonyms.ts";
import type { CallerCheck } from "./callers.ts";
import { type CoreServices, type LocalOptions, openCoreServices } from "./core-services.ts";
import type { PortalServices, StorageLocations, Webhooks } from "./embedded-wiring.ts";
import { instrumentPipeline } from "./instrumented-parts.ts";
import { createLinkServer } from "./link-server.ts";
import { connectMcp } from "./mcp-wiring.ts";
import { createReadiness } from "./readiness.ts";
import { createServerKeyLoader } from "./server-key.ts";
import { closeAll } from "./shutdown.ts";

export { listToolCosts } from "../tools/catalog/token-cost.ts";
export { directoryFix, findMissingDirectory, inspectDatabase, MissingRights } from "./database.ts";
export { requireServerKey } from "./server-key.ts";
export type { PortalServices, Webhooks };

/** The whole program, put together from its configuration. */
export interface App {
  readonly store: Store;
  readonly content: ContentStore;
  readonly pipeline: OperationPipeline;
  readonly tokens: TokenAdmin;
  readonly upstream: Upstream;
  readonly log: Log;
  /** What the embedded service sends; the product sends its own webhooks. */
  readonly webhooks: Webhooks | undefined;
  /** What works off the embedded service's exports. */
  readonly exports: ExportWorker | undefined;
  /** Where the embedded service's applicants, reviewers and staff act, and how mail reaches them. */
  readonly portalServices: PortalServices | undefined;
  /**
   * Starts the work that goes on beside requests; `close` ends it.
   * @throws Error when the server key cannot be had
   */
  startWorkers(): void;
  /**
   * Tells other processes on the database of this one, and warns of settings that are not the same.
   * @throws UsageError where it cannot work beside them
   */
  joinOthers(): Promise<void>;
  /** Serves metrics where the configuration wants them: their address. */
  serveMetrics(): Promise<string | undefined>;
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
  /** From now on `/readyz` says that requests should go elsewhere; they are still answered. */
  drain(): void;
  /** Takes nothing new, lets what is under way end as long as it may, and closes everything. */
  close(): Promise<void>;
}

/** What is not configured; tests replace the clock and the log. */
export interface AppOptions extends Partial<LocalOptions> {}

export async function createApp(config: Config, { clock = systemClock, ...rest }: AppOptions = {}): Promise<App> {
  const { metrics, telemetry, ...common } = await openCoreServices(config, { clock, ...rest });
  const { store, log } = common;
  const local = { ...common, telemetry };
  const places = await openBlobStore(config.filesBeside, config.bucket);

  let server: HttpServer | undefined;
  let callerCheck: CallerCheck | undefined;
  let metricsServer: MetricsServer | undefined;
  const links = createSignedUrls(
    store,
    clock,
    async () => config.publicUrl ?? (server ?? (await linkServer.open())).origin,
  );
  const pipeline = createPipeline({ store, handlers, links, clock, log, options: config });
  const changes = createChangeFeed({ store, identify: pipeline.identify, log });
  const remote = await createRemoteParts(config, local);
  const { circuitBreaker } = remote ?? {};
  const serverKey = createServerKeyLoader(config);
  const handlesOf = loadPseudonymizer(await store.secret("handles"));
  const embedded = remote ? undefined : await createEmbeddedParts(config, serverKey, { ...places, handlesOf }, local);
  const { webhooks, exports, portalServices, membership, workers = [] } = embedded ?? {};
  const bare = remote?.upstream ?? createEmbeddedUpstream(instrumentPipeline(pipeline, "mcp", telemetry), changes);
  const upstream = createPseudonymizingUpstream(bare, config.privacy, handlesOf);
  const downloads = createDownloads({ ...places, links, store, log });
  const settleMs = config.shutdownSeconds * 1000;
  const readiness = createReadiness({ ...local, workers, serverKey, circuitBreaker });
  const surfaces = { downloads, invitations: portalServices?.invitations, readiness: readiness.look, telemetry, log };
  const linkServer = createLinkServer(config, () => surfaces);

  const { fastPath, mcpEndpoint, mcpServer, withheld } = await connectMcp(config, upstream, local);

  return {
    store,
    content: places.content,
    pipeline,
    tokens: createTokenAdmin(store, clock),
    upstream,
    log,
    webhooks,
    exports,
    portalServices,
    mcpServer,
    startWorkers() {
      if (workers.length > 0) serverKey();
      for (const worker of workers) worker.start();
    },
    joinOthers: async () => membership?.join(),
    async listen() {
      const { serveSurfaces } = await import("./http-wiring.ts");
      const own = remote ? undefined : instrumentPipeline(pipeline, "rest", telemetry);
      const serving = { upstream, pipeline: own, mcpEndpoint, webhooks: remote?.webhooks, surfaces };
      ({ server, callerCheck } = await serveSurfaces(config, serving, local));
      return server;
    },
    async serveMetrics() {
      if (!metrics || !config.metrics) return undefined;
      const { openMetrics } = await import("./metrics.ts");
      const watched = { ...local, queues: !remote, circuitBreaker, server: () => server, mcp: () => callerCheck?.mcp };
      metricsServer = await openMetrics(metrics, config.metrics, watched);
      return metricsServer.url;
    },
    reloadKeys: () => callerCheck?.keys?.reload(),
    connectStdio: (token, wire) =>
      connectStdio({ factory: mcpServer(token), fastPath, upstream, disabledBySetting: withheld, token, log }, wire),
    drain: readiness.drain,
    async close() {
      const last = [remote, changes, pipeline, store, places, metricsServer];
      await closeAll({ telemetry, settleMs, servers: [server, linkServer], callerCheck, workers, last });
    },
  };
}

// Only one of the two is ever needed, and each takes time to load.

async function createRemoteParts(config: Config, local: CoreServices) {
  if (config.baseUrl === undefined) return undefined;
  const { connectRemoteProduct } = await import("./remote-wiring.ts");
  return connectRemoteProduct(config, config.baseUrl, local);
}

async function createEmbeddedParts(
  config: Config,
  serverKey: () => Buffer,
  places: StorageLocations,
  local: CoreServices,
) {
  const { connectEmbedded } = await import("./embedded-wiring.ts");
  return connectEmbedded(config, serverKey, places, local);
}
