import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { getRequestListener, type HttpBindings } from "@hono/node-server";
import { type Context, Hono } from "hono";
import { accepts } from "hono/accepts";
import { cors } from "hono/cors";
import { createId } from "../../lib/ids.ts";
import type { Log } from "../../lib/log.ts";
import type { Surface, Telemetry } from "../../lib/telemetry.ts";
import { type HomeFacts, renderHomePage } from "../../pages/home.ts";
import { pageHeaders } from "../../pages/layout.ts";
import type { Downloads } from "../../pipeline/downloads.ts";
import type { Invitations } from "../../pipeline/invitations.ts";
import type { ProtectedResource } from "../auth/protected-resource.ts";
import { type RestHandler, refuseBusy, restPath } from "../rest/rest.ts";
import { type ConcurrencyLimiter, createConcurrencyLimiter } from "./concurrency-limiter.ts";
import { limitConnections } from "./connections.ts";
import { createRebindingGuard, type RebindingOptions } from "./dns-rebinding.ts";
import { parseLink, serveDownload } from "./downloads.ts";
import { createInvitationApp, invitationPath } from "./invitations.ts";
import type { McpEndpoint } from "./mcp-endpoint.ts";
import { createProbes, type Readiness } from "./probes.ts";
import { type WebhookHandler, webhookPath } from "./webhook-receiver.ts";

export interface HttpOptions extends RebindingOptions {
  readonly host: string;
  /** 0 takes any free one. */
  readonly port: number;
  /** Requests served at once; more are answered 503. */
  readonly maxConcurrentRequests: number;
  /** Connections open at once; more are closed as they come. */
  readonly maxConnections: number;
  /** Those of one client's address. */
  readonly maxConnectionsPerAddress: number;
  /** How long requests under way may take to end when the server closes. */
  readonly shutdownSeconds: number;
  readonly timeouts?: typeof httpTimeouts;
}

export interface HttpSurfaces {
  readonly rest?: RestHandler;
  readonly mcp?: McpEndpoint;
  readonly downloads: Downloads;
  readonly invitations?: Invitations | undefined;
  readonly webhooks?: WebhookHandler | undefined;
  /** What the page at `/` tells, if there is one. */
  readonly home?: HomeFacts;
  /** What says where tokens for MCP are issued, if they are. */
  readonly resource?: ProtectedResource | undefined;
  readonly readiness: () => Promise<Readiness>;
  readonly telemetry: Telemetry;
  readonly log: Log;
}

export interface HttpServer {
  /** `http://127.0.0.1:3000`, without a slash at the end. */
  readonly origin: string;
  /** Connections that are open, and requests that are at work. */
  load(): Promise<{ readonly connections: number; readonly requests: number }>;
  close(): Promise<void>;
}

const mcpPath = "/mcp";

/** How long a client may take, in milliseconds. */
export const httpTimeouts = {
  /** To send a request's head. */
  headersMs: 10_000,
  /** To send all of it. */
  requestMs: 60_000,
  /** To read some more of an answer that waits for it. */
  stallMs: 30_000,
  /** To send the next request. Longer than balancers keep an idle connection: else they would meet one that is closing. */
  keepAliveMs: 65_000,
};
export const maxHeaderBytes = 16 * 1024;

/** Serves REST, MCP, downloads, pages, webhooks that come in, `/healthz` and `/readyz` on one port. */
export async function listenHttp(options: HttpOptions, surfaces: HttpSurfaces): Promise<HttpServer> {
  const { headersMs, requestMs, keepAliveMs, stallMs } = options.timeouts ?? httpTimeouts;
  const work = createConcurrencyLimiter(options.maxConcurrentRequests);
  const server = createServer(
    {
      maxHeaderSize: maxHeaderBytes,
      headersTimeout: headersMs,
      requestTimeout: requestMs,
      connectionsCheckingInterval: Math.ceil(headersMs / 5),
      keepAliveTimeout: keepAliveMs,
    },
    createListener(options, surfaces, work),
  );
  endStalled(server, stallMs);
  server.maxConnections = options.maxConnections;
  limitConnections(server, options.maxConnectionsPerAddress);
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(options.port, options.host, resolve);
  });
  const { port } = server.address() as AddressInfo;
  return {
    origin: `http://${formatUrlHost(options.host)}:${port}`,
    load: async () => ({ connections: await countConnections(server), requests: work.size }),
    close: () => closeServer(server, options.shutdownSeconds * 1000),
  };
}

/** Ends connections whose client has long read nothing of an answer that waits for it. */
function endStalled(server: Server, stallMs: number): void {
  const answers = new WeakMap<Socket, ServerResponse>();
  server.on("request", ({ socket }, response) => answers.set(socket, response));
  // Once for a connection: to set a time for each answer costs more than to look up a record.
  server.setTimeout(stallMs, (socket: Socket) => {
    const answer = answers.get(socket);
    // Of what is still being worked on or streamed, nothing waits to be read.
    if (!answer || answer.writableEnded || answer.writableLength > 0) socket.destroy();
  });
}

function countConnections(server: Server): Promise<number> {
  return new Promise((resolve, reject) =>
    server.getConnections((error, count) => (error ? reject(error) : resolve(count))),
  );
}

function createListener(options: HttpOptions, surfaces: HttpSurfaces, work: ConcurrencyLimiter) {
  const isProbe = createProbes(surfaces.readiness);
  const isAllowed = createRebindingGuard(options);
  const serve = createServing(surfaces, work);

  return (request: IncomingMessage, response: ServerResponse): void => {
    const requestId = createId("req");
    const surface = chooseSurface(request, surfaces);
    // The others say it with the rest of the head: to set a header alone costs more than to write them all.
    if (surface !== "rest" && surface !== "mcp") response.setHeader("x-request-id", requestId);
    surfaces.telemetry.exchange({ surface, request, response, requestId }, () => {
      if (surface === "probe" && isProbe(request, response)) return;
      if (!work.enter(response)) refuseBusy(response, requestId);
      else if (isOpen(surface) || isAllowed(request, response, requestId)) serve(surface, request, response, requestId);
    });
  };
}

/**
 * An invitation's page counts on the secret in its address alone, whoever leads there; and a browser that keeps that
 * address to itself says of the page's own form that it comes from nowhere.
 */
function isOpen(surface: Surface): boolean {
  return surface === "invitation";
}

/** What answers a request, by its path. */
function chooseSurface(request: IncomingMessage, { rest, webhooks, mcp }: HttpSurfaces): Surface {
  const { url = "" } = request;
  if (rest && isBelow(restPath, url)) return "rest";
  if (mcp && isBelow(mcpPath, url)) return "mcp";
  if (webhooks && isBelow(webhookPath, url)) return "webhook";
  if (isBelow(invitationPath, url)) return "invitation";
  if (url === "/healthz" || url === "/readyz") return "probe";
  return parseLink(request) ? "download" : "other";
}

type Serve = (surface: Surface, request: IncomingMessage, response: ServerResponse, requestId: string) => void;

function createServing(surfaces: HttpSurfaces, work: ConcurrencyLimiter): Serve {
  const serveOther = getRequestListener(createApp(surfaces, work).fetch);

  async function serveMcp(request: IncomingMessage, response: ServerResponse, requestId: string) {
    try {
      const isMcp = request.url?.split("?")[0] === mcpPath;
      const answered = isMcp && (await surfaces.mcp?.answer(request, response, requestId));
      if (answered) return;
      response.setHeader("x-request-id", requestId);
      await serveOther(request, response);
    } catch (error) {
      surfaces.log.debug({ err: error, requestId }, "An MCP request broke off");
      response.destroy();
    }
  }

  return (surface, request, response, requestId) => {
    const link = surface === "download" ? parseLink(request) : undefined;
    if (surface === "rest") void surfaces.rest?.(request, response, requestId);
    else if (surface === "webhook") void surfaces.webhooks?.(request, response, requestId);
    else if (surface === "mcp") void serveMcp(request, response, requestId);
    // A download lasts as long as its client takes; only what led to it is work.
    else if (link) void serveDownload(surfaces, link, request, response).then(() => work.leave(response));
    else void serveOther(request, response);
  };
}

function isBelow(path: string, url = ""): boolean {
  return url.startsWith(path) && /^[/?]?$/.test(url.charAt(path.length));
}

function createApp(
  { mcp, invitations, resource, home, log }: HttpSurfaces,
  work: ConcurrencyLimiter,
): Hono<{ Bindings: HttpBindings }> {
  const app = new Hono<{ Bindings: HttpBindings }>();
  app.use("*", async (context, next) => {
    await next();
    // A stream lasts as long as its client listens; only what led to it is work.
    work.leave(context.env.outgoing as ServerResponse);
  });
  const getRequestId = (outgoing: ServerResponse) => String(outgoing.getHeader("x-request-id"));
  if (mcp) app.all(mcpPath, (context) => mcp.fetch(context.req.raw, context.env.incoming as IncomingMessage));
  if (home) app.get("/", (context) => answerHome(context, home));
  if (invitations) app.route(invitationPath, createInvitationApp(invitations));
  for (const path of resource?.paths ?? []) {
    app.use(path, cors());
    app.get(path, (context) => context.json(resource?.document));
  }
  app.onError((error, context) => {
    log.error({ err: error, requestId: getRequestId(context.env.outgoing as ServerResponse) }, "The request failed");
    return context.text("Internal error", 500);
  });
  return app;
}

/** Answers people, whose browsers ask for HTML; programs that try `/` are told that there is nothing. */
function answerHome(context: Context, home: HomeFacts): Response | Promise<Response> {
  const type = accepts(context, { header: "Accept", supports: ["text/html"], default: "" });
  if (type !== "text/html") return context.notFound();
  for (const [name, value] of Object.entries(pageHeaders)) context.header(name, value);
  context.header("vary", "accept");
  return context.html(renderHomePage(home, new URL(context.req.url).origin));
}

function formatUrlHost(host: string): string {
  if (host === "0.0.0.0" || host === "::") return "127.0.0.1";
  return host.includes(":") ? `[${host}]` : host;
}

const sweepMs = 50;

async function closeServer(server: Server, drainMs: number): Promise<void> {
  const closed = new Promise<void>((resolve) => server.close(() => resolve()));
  // Again and again: a connection whose answer ends only now would stay until its client lets go of it.
  const sweeper = setInterval(() => server.closeIdleConnections(), sweepMs);
  const timer = setTimeout(() => server.closeAllConnections(), drainMs);
  await closed;
  clearInterval(sweeper);
  clearTimeout(timer);
}
