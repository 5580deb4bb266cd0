import { randomBytes } from "node:crypto";
import { readFileSync } from "node:fs";
import { createSecureContext } from "node:tls";
import type { Config } from "./config/load.ts";
import { UsageError } from "./config/usage-error.ts";
import { logsOfBusinesses, logsOfTokens, type WebhookLog } from "./config/webhook-logs.ts";
import { type CallName, operations } from "./contract/index.ts";
import { limits } from "./contract/limits.ts";
import { lackedScopes } from "./contract/operation.ts";
import { scopes } from "./contract/scopes.ts";
import { isOpen } from "./domain/invitations.ts";
import { createExportWorker, type ExportWorker } from "./exports/worker.ts";
import { createChangeFeed } from "./gate/changes.ts";
import { createDesk, type Desk } from "./gate/desk.ts";
import { createDownloads } from "./gate/downloads.ts";
import { createInvitations, type Invitations } from "./gate/invitations.ts";
import { createGate, type Gate } from "./gate/invoke.ts";
import { createLinks } from "./gate/links.ts";
import { type Clock, systemClock } from "./lib/clock.ts";
import { readOrMakeKey } from "./lib/key-file.ts";
import { createLogger, type Log } from "./lib/log.ts";
import { createSealer } from "./lib/sealed.ts";
import { version } from "./lib/version.ts";
import type { Worker } from "./lib/worker.ts";
import { createFolderCarrier } from "./mail/folder.ts";
import { createMailOffice, type MailOffice } from "./mail/office.ts";
import { createSmtpCarrier } from "./mail/smtp.ts";
import { createMailWorker } from "./mail/worker.ts";
import { actHandlers } from "./service/desk/index.ts";
import { list_events } from "./service/events.ts";
import { personsOf } from "./service/expansion.ts";
import { handlers } from "./service/index.ts";
import { openContent } from "./store/content-open.ts";
import { openStore } from "./store/open.ts";
import type { ContentStore, Store } from "./store/port.ts";
import { offered, withheldBy } from "./tools/offer.ts";
import type { ConfirmationPolicy } from "./tools/session.ts";
import { createCallers } from "./transport/callers.ts";
import { type GatewayKeys, type GatewayKeysOptions, openGatewayKeys } from "./transport/gateway-keys.ts";
import { type HttpServer, listen } from "./transport/http.ts";
import { createIssuer, type Issuer } from "./transport/issuer.ts";
import { createMcpEndpoint, type McpEndpoint } from "./transport/mcp.ts";
import { type ProtectedResource, protectedResource } from "./transport/oauth.ts";
import { openapiDocument } from "./transport/openapi.ts";
import { createRestHandler } from "./transport/rest.ts";
import { createServerFactory, type ServerFactory } from "./transport/server.ts";
import { connectStdio, type StdioConnection, type Wire } from "./transport/stdio.ts";
import { createWebhookHandler } from "./transport/webhooks.ts";
import { createBlindUpstream } from "./upstream/blind.ts";
import { createEmbeddedUpstream } from "./upstream/embedded.ts";
import { createGatewayUpstream } from "./upstream/gateway.ts";
import { createHandles } from "./upstream/handles.ts";
import { createHttpClient } from "./upstream/http-client.ts";
import type { Upstream } from "./upstream/port.ts";
import { createReceivingUpstream } from "./upstream/received.ts";
import { createRemoteUpstream, realmOf } from "./upstream/remote.ts";
import { timeoutsWithin } from "./upstream/timeouts.ts";
import { createAddressGuard } from "./webhooks/address-guard.ts";
import { resolveName } from "./webhooks/dialler.ts";
import { createEndpoints, type Endpoints } from "./webhooks/endpoints.ts";
import { createHousekeeper, type Housekeeper } from "./webhooks/housekeeper.ts";
import { createProbe, type Probe } from "./webhooks/probe.ts";
import { createReceiver } from "./webhooks/receive.ts";
import { createReplay, type Replay } from "./webhooks/replay.ts";
import { createSender } from "./webhooks/sender.ts";
import { createDeliveryWorker, type DeliveryWorker } from "./webhooks/worker.ts";

export { toolCosts } from "./tools/costs.ts";

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

export interface Webhooks {
  readonly endpoints: Endpoints;
  readonly probe: Probe;
  readonly replay: Replay;
  readonly deliveries: DeliveryWorker;
  readonly housekeeper: Housekeeper;
}

export interface People {
  readonly desk: Desk;
  readonly invitations: Invitations;
  readonly mailOffice: MailOffice;
  readonly mailer: Worker;
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

interface Local {
  readonly store: Store;
  readonly clock: Clock;
  readonly log: Log;
}

/** How agents meet the service: what they are offered, and when somebody is asked first. */
async function connectAgents(config: Config, upstream: Upstream, { store, clock, log }: Local) {
  const withheld = (name: CallName) => withheldBy(config, name);
  const confirmation: ConfirmationPolicy = {
    posture: config.confirm,
    approved: new Set(config.approvedTools),
    key: await store.secret("confirmations"),
    now: () => clock.now(),
  };
  const common = { version, log, confirmation, settings: config, withheldBy: withheld };
  const mcpServer = (token: string | undefined) => createServerFactory({ ...common, upstream, token });
  const mcpEndpoint = (callers: Callers) => {
    const factory = createServerFactory({ ...common, upstream: callers.upstream });
    const { resource: signpost } = callers;
    return createMcpEndpoint({ ...config, ...common, upstream: callers.upstream, factory, signpost, clock });
  };
  return { withheld, mcpServer, mcpEndpoint };
}

/** Whoever calls MCP over HTTP, and the service as they meet it. */
interface Callers {
  readonly upstream: Upstream;
  readonly keys?: GatewayKeys | undefined;
  readonly issuer?: Issuer | undefined;
  readonly resource?: ProtectedResource | undefined;
}

interface Door extends Callers {
  readonly mcp: McpEndpoint;
}

/** Callers with access tokens of the service; or, where the operator set that up, with what stands for one. */
function connectCallers(config: Config, upstream: Upstream, { clock, log }: Omit<Local, "store">): Callers {
  const { gatewayKeys: file, oauth, token } = config;
  if (file === undefined && !oauth) return { upstream };
  const keys = file === undefined ? undefined : keysIn({ file, env: process.env, token, clock, log });
  const issuer = oauth && createIssuer({ ...oauth, env: process.env, clock, log });
  const needed = offered(config, new Set(scopes)).flatMap((name) => lackedScopes(operations[name], new Set()));
  return {
    upstream: createGatewayUpstream(upstream, createCallers({ keys, issuer, token }), log),
    keys,
    issuer,
    resource: oauth && protectedResource({ ...oauth, scopes: scopes.filter((scope) => needed.includes(scope)) }),
  };
}

function keysIn(options: GatewayKeysOptions): GatewayKeys {
  try {
    return openGatewayKeys(options);
  } catch (error) {
    throw new UsageError(`PROGRAMME_GATEWAY_KEYS: ${(error as Error).message}.`);
  }
}

/** Makes the handles that agents see of people, for each realm its own. */
async function handlesIn(store: Store) {
  const secret = await store.secret("handles");
  return (realm: string) => createHandles(secret, realm);
}

/** The key under which secrets are kept in the database: not in the database. */
function serverKeyOf({ secretKey, database }: Config): () => Buffer {
  let key: Buffer | undefined;
  return () => {
    if (secretKey !== undefined) key ??= Buffer.from(secretKey, "hex");
    key ??= database === ":memory:" ? randomBytes(32) : readOrMakeKey(`${database}.key`);
    return key;
  };
}

/** What the embedded service does beside requests. */
function connectEmbedded(config: Config, serverKey: () => Buffer, places: Places, local: Local) {
  const webhooks = connectWebhooks(config, serverKey, local);
  const exports = createExportWorker({ ...local, artifacts: places.artifacts, personsOf });
  const people = connectPeople(config, places.mailDirectory, local);
  return { webhooks, exports, people, workers: [webhooks.deliveries, webhooks.housekeeper, exports, people.mailer] };
}

type Places = Awaited<ReturnType<typeof openContent>>;

function connectWebhooks(config: Config, serverKey: () => Buffer, { store, clock, log }: Local): Webhooks {
  const allowLoopback = config.webhookLoopback;
  const refuses = createAddressGuard({ allowLoopback });
  const sealer = createSealer(serverKey, "webhooks");
  const endpoints = createEndpoints({ store, sealer, clock, rules: { refuses, allowLoopback } });
  const send = createSender({ refuses, resolve: resolveName, userAgent: `programme-mcp/${version}` });
  const { outbox } = store;
  const idempotencyDays = limits.idempotencyTtlSeconds / 86_400;
  return {
    endpoints,
    probe: createProbe({ endpoints, send, clock }),
    replay: createReplay(outbox, clock),
    deliveries: createDeliveryWorker({ outbox, endpoints, send, clock, log, concurrency: config.webhookConcurrency }),
    housekeeper: createHousekeeper({
      store,
      clock,
      log,
      keptDays: {
        deliveries: 30,
        events: 30,
        accesses: config.accessLogDays,
        answers: idempotencyDays,
        confirmations: 0,
      },
    }),
  };
}

function connectPeople(config: Config, mailDirectory: string, local: Local): People {
  const { store, clock } = local;
  const desk = createDesk({ store, handlers: actHandlers, clock });
  return {
    desk,
    invitations: createInvitations({ store, desk, clock, isOpen }),
    mailOffice: createMailOffice(store, clock),
    mailer: connectMail(config, mailDirectory, local),
  };
}

/** What sends mail: through a server, or into a directory where there is none. */
function connectMail(config: Config, directory: string, { store, clock, log }: Local): Worker {
  const { smtpUrl: url, mailFrom, smtpTimeoutSeconds, mailConcurrency } = config;
  const timeoutMs = smtpTimeoutSeconds * 1000;
  const common = { store, clock, log, timeoutMs };
  if (url !== undefined && mailFrom !== undefined) {
    const carrier = () => createSmtpCarrier({ url, timeoutMs });
    return createMailWorker({ ...common, from: mailFrom, carrier, lanes: mailConcurrency });
  }
  const from = mailFrom ?? { name: "", address: "no-reply@localhost" };
  return createMailWorker({ ...common, from, carrier: () => createFolderCarrier(directory, log), lanes: 1 });
}

/** The product's own service as an upstream; what must be remembered of it is in the local store. */
export function connectRemote(config: Config, baseUrl: string, { store, clock, log }: Local) {
  const timeouts = timeoutsWithin(config.timeoutSeconds);
  const client = createHttpClient({
    origin: new URL(baseUrl).origin,
    ca: config.caFile === undefined ? undefined : certificatesOf(config.caFile),
    env: process.env,
    connectTimeoutMs: timeouts.connectMs,
    answerTimeoutMs: timeouts.answerMs,
  });
  const upstream = createRemoteUpstream({
    ...config,
    baseUrl,
    client,
    timeouts,
    clock,
    log,
    spend: (realm, { nonce, expiresAt }) =>
      store.transaction({ businessId: realm, actorId: "remote", now: clock.now().toISOString() }, (transaction) =>
        transaction.spend(nonce, expiresAt),
      ),
  });
  return { client, upstream };
}

/** Where webhooks come in, if there are any; in the embedded service, for its organisations. */
async function webhookInlet(config: Config, beside: ReadonlyMap<string, WebhookLog> | undefined, local: Local) {
  const { store, ...common } = local;
  const businessIds = (await store.listBusinesses()).map(({ businessId }) => businessId);
  const webhooks = beside ?? logsOfBusinesses(config, businessIds);
  const inlet = createReceiver({ webhooks, inbox: store.inbox, ...common });
  return webhooks.size > 0 ? createWebhookHandler({ ...config, inlet, log: local.log }) : undefined;
}

/** The product's own service, where one is configured, with what it tells by webhooks. */
function connectProduct(config: Config, local: Local) {
  if (config.baseUrl === undefined) return undefined;
  const { client, upstream } = connectRemote(config, config.baseUrl, local);
  const { origin } = new URL(config.baseUrl);
  const { kept, read } = logsOfTokens(config, origin, (sha256) => realmOf(origin, sha256));
  const receiving = createReceivingUpstream(upstream, {
    logOf: (realm) => read.get(realm),
    list: (name, held, input) => list_events({ store: local.store.reader(name), caller: { scopes: held } }, input),
    follow: (identify) => createChangeFeed({ ...local, identify }),
    clock: local.clock,
  });
  const close = async () => {
    await receiving.close();
    await client.close();
  };
  return { upstream: config.hasEvents ? receiving : upstream, webhooks: kept, close };
}

function certificatesOf(file: string): string {
  try {
    const pem = readFileSync(file, "utf8");
    createSecureContext({ ca: pem });
    if (pem.includes("-----BEGIN CERTIFICATE-----")) return pem;
  } catch {}
  throw new UsageError(`PROGRAMME_CA_FILE must be a readable file of PEM certificates; ${file} is not.`);
}
