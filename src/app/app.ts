import type { Config } from "../config/load.ts";
import type { ExportWorker } from "../exports/worker.ts";
import type { Log } from "../lib/log.ts";
import type { Worker } from "../lib/worker.ts";
import type { PersonMailer } from "../mail/person-mail.ts";
import { createChangeFeed } from "../pipeline/change-feed.ts";
import { createDownloads } from "../pipeline/downloads.ts";
import { createPipeline, type OperationPipeline } from "../pipeline/execute.ts";
import { createLinkVerifier, createSignedUrls } from "../pipeline/signed-urls.ts";
import { createTokenAdmin, type TokenAdmin } from "../pipeline/tokens/tokens.ts";
import type { UserAdmin } from "../pipeline/users/user-admin.ts";
import type { Retention } from "../retention/retention.ts";
import { handlers } from "../service/index.ts";
import { openBlobStore } from "../store/blobs/open-blob-store.ts";
import type { BlobStore, Store } from "../store/port.ts";
import type { HttpServer } from "../transport/http/server.ts";
import type { ServerFactory } from "../transport/mcp-server.ts";
import { connectStdio, type StdioConnection } from "../transport/stdio/connect-stdio.ts";
import type { StdioTransport } from "../transport/stdio/stdio-transport.ts";
import { createEmbeddedUpstream } from "../upstream/embedded.ts";
import type { Upstream } from "../upstream/port.ts";
import { createPseudonymizingUpstream } from "../upstream/privacy/pseudonymizing-upstream.ts";
import { loadPseudonymizer } from "../upstream/privacy/pseudonyms.ts";
import { workflowRunners } from "../workflows/index.ts";
import { type AppOptions, type CoreServices, openCoreServices } from "./core-services.ts";
import type { PortalServices, StorageLocations, Webhooks } from "./embedded-wiring.ts";
import { HttpServers } from "./http-servers.ts";
import { connectMcp } from "./mcp-wiring.ts";
import { connectPeople } from "./people-wiring.ts";
import { createReadiness } from "./readiness.ts";
import { createRemoteApps } from "./remote-apps.ts";
import { createServerKeyLoader } from "./server-key.ts";
import { instrumentPipeline } from "./telemetry/instrumented-parts.ts";
import { createMetricsEndpoint } from "./telemetry/metrics.ts";

export { listToolCosts } from "../tools/catalog/token-cost.ts";
export {
  directoryFix,
  findMissingDirectory,
  inspectDatabase,
  inspectDatabaseReplicas,
  MissingRights,
} from "./database.ts";
export { requireServerKey } from "./server-key.ts";
export type { AppOptions, PortalServices, Webhooks };

/** The program, constructed from its configuration. */
export interface App {
  readonly store: Store;
  readonly content: BlobStore;
  readonly pipeline: OperationPipeline;
  readonly tokens: TokenAdmin;
  /** Manages the people who sign in. */
  readonly userAdmin: UserAdmin;
  /** Sends messages to them. Undefined without a mail server. */
  readonly personMailer: PersonMailer | undefined;
  readonly upstream: Upstream;
  readonly log: Log;
  /** The webhooks of the embedded service; a remote service sends its own. */
  readonly webhooks: Webhooks | undefined;
  /** Processes the exports of the embedded service. */
  readonly exports: ExportWorker | undefined;
  /** Deletes the old rows and files of the embedded service. */
  readonly retention: Retention | undefined;
  /** The acts of the embedded service's applicants, reviewers and staff, and its mail. */
  readonly portalServices: PortalServices | undefined;
  /**
   * Starts the background workers; `close` stops them.
   * @throws Error when there is no server key
   */
  startWorkers(): void;
  /**
   * Announces this process to the others on the database, and warns about settings that differ.
   * @throws UsageError when it cannot run beside them
   */
  joinOthers(): Promise<void>;
  /** Serves metrics and returns their URL, or undefined if they are not configured. */
  serveMetrics(): Promise<string | undefined>;
  /**
   * Serves REST and MCP on the configured host and port.
   * @throws UsageError when the gateway keys cannot be used
   */
  listen(): Promise<HttpServer>;
  /** Serves the pages for people alone on the configured host and port. */
  listenForPeople(): Promise<HttpServer>;
  /** Reads the file of gateway keys again, if there is one. */
  reloadKeys(): void;
  /** Serves one MCP connection as the holder of a token, on stdin and stdout unless another transport is given. */
  connectStdio(token: string, transport?: StdioTransport): StdioConnection;
  /** Creates the MCP server of a connection whose requests carry no token. */
  mcpServer(token: string | undefined): ServerFactory;
  /** Makes `/readyz` report that requests should go to another process. Requests are still answered. */
  drain(): void;
  /** Accepts nothing new, lets calls in flight end within the configured time, and closes everything. */
  close(): Promise<void>;
}

/** Constructs the program. Each object is given to those that need it; none refers to one that is constructed later. */
export async function createApp(config: Config, options: AppOptions = {}): Promise<App> {
  const { services, metrics } = await openCoreServices(config, options);
  const { store, clock, log, telemetry } = services;
  const storage = await openBlobStore(config.filesBeside, config.bucket);
  const serverKey = createServerKeyLoader(config);
  const remote = await createRemoteParts(config, serverKey, services);
  const peopleDeps = { serverKey, productTokens: remote?.productTokens, getOrigin: () => servers.getOrigin() };
  const { people, personMailer, notifiers } = connectPeople(config, services, peopleDeps);
  const handlesOf = loadPseudonymizer(await store.secret("handles"));
  const embedded = remote
    ? undefined
    : await createEmbeddedParts(config, serverKey, { ...storage, handlesOf }, services);
  const { webhooks, exports, portalServices, membership } = embedded ?? {};
  const { retention, workers: ofService = [] } = remote ?? embedded ?? {};
  const workers = [...ofService, ...notifiers];
  const { circuitBreaker, webhooks: receiver } = remote ?? {};
  const downloads = createDownloads({ ...storage, links: createLinkVerifier(store, clock), store, log });
  const readiness = createReadiness({ ...services, workers, serverKey, circuitBreaker });
  const surfaces = { downloads, people, invitations: portalServices?.invitations, telemetry, log };
  const servers = new HttpServers(config, { ...surfaces, readiness: readiness.look });
  const measured = { ...services, hasQueues: !remote, circuitBreaker, servers };
  const metricsEndpoint = createMetricsEndpoint(config.metrics, metrics, measured);
  const links = createSignedUrls(store, () => servers.getOrigin());
  const pipeline = createPipeline({ store, handlers, workflows: workflowRunners, links, clock, log, options: config });
  const changes = createChangeFeed({ store, identify: pipeline.identify, log });
  const bare = remote?.upstream ?? createEmbeddedUpstream(instrumentPipeline(pipeline, "mcp", telemetry), changes);
  const upstream = createPseudonymizingUpstream(bare, config.privacy, handlesOf);
  const mcp = await connectMcp(config, upstream, { servers, approvals: people.approvals }, services);
  const rest = remote ? undefined : instrumentPipeline(pipeline, "rest", telemetry);
  const apps = remote && createRemoteApps(remote.productTokens, pipeline, services);
  const wiring = { ...mcp, upstream, pipeline: rest, localPipeline: pipeline, webhooks: receiver, embedded, apps };

  return {
    store,
    content: storage.content,
    pipeline,
    tokens: createTokenAdmin(store, clock),
    userAdmin: people.userAdmin,
    personMailer,
    upstream,
    log,
    webhooks,
    exports,
    portalServices,
    retention,
    mcpServer: mcp.mcpServer,
    startWorkers: () => startWorkers(workers, remote ? undefined : serverKey),
    joinOthers: async () => membership?.join(),
    listen: () => servers.listen(wiring, services),
    listenForPeople: () => servers.listenForPeople(wiring, services),
    serveMetrics: metricsEndpoint.open,
    reloadKeys: () => servers.reloadKeys(),
    connectStdio(token, transport) {
      const drainMs = config.shutdownSeconds * 1000;
      return connectStdio({ ...mcp, factory: mcp.mcpServer(token), upstream, token, log, drainMs }, transport);
    },
    drain: readiness.drain,
    async close() {
      const stopped = Promise.all([servers.stopListening(), ...workers.map((worker) => worker.stop())]);
      await telemetry.idle(config.shutdownSeconds * 1000);
      await servers.closeStreams();
      await stopped;
      for (const part of [remote, changes, pipeline, store, storage, metricsEndpoint]) await part?.close();
      await telemetry.close();
    },
  };
}

/** Starts the workers. Those of the embedded service need the server key, and a process without it must not begin. */
function startWorkers(workers: readonly Worker[], serverKey: (() => Buffer) | undefined): void {
  serverKey?.();
  for (const worker of workers) worker.start();
}

// Each is loaded only if it is configured: loading takes time.
async function createRemoteParts(config: Config, serverKey: () => Buffer, services: CoreServices) {
  if (config.baseUrl === undefined) return undefined;
  const { connectRemoteProduct } = await import("./remote-wiring.ts");
  return connectRemoteProduct(config, config.baseUrl, serverKey, services);
}

async function createEmbeddedParts(
  config: Config,
  serverKey: () => Buffer,
  storage: StorageLocations,
  services: CoreServices,
) {
  const { connectEmbedded } = await import("./embedded-wiring.ts");
  return connectEmbedded(config, serverKey, storage, services);
}
