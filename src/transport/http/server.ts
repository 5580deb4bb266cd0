import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { getRequestListener, type HttpBindings } from "@hono/node-server";
import { type Context, Hono } from "hono";
import { cors } from "hono/cors";
import { HTTPException } from "hono/http-exception";
import { problem } from "../../contract/errors.ts";
import { createId } from "../../lib/ids.ts";
import type { Log } from "../../lib/log.ts";
import type { Surface, Telemetry } from "../../lib/telemetry.ts";
import { assetsPath, findAsset, iconPath } from "../../pages/assets.ts";
import { describeAddresses, type HomeFacts, renderHomePage } from "../../pages/home.ts";
import { pageHeaders } from "../../pages/layout.ts";
import type { Downloads } from "../../pipeline/downloads.ts";
import type { OperationPipeline } from "../../pipeline/execute.ts";
import type { Invitations } from "../../pipeline/invitations.ts";
import { iconSvg } from "../../resources/icons.ts";
import type { FindResource } from "../auth/protected-resource.ts";
import type { AdminServices } from "../console/admin-services.ts";
import { addConsoleRoutes } from "../console/console-app.ts";
import { type ConsoleServices, openConsoleRequest } from "../console/console-page.ts";
import { showToday } from "../console/today.ts";
import type { PageContext, PeopleServices } from "../people/browser-request.ts";
import { answerError, answerNotFound, isPageRequest } from "../people/page-errors.ts";
import { addPeopleRoutes } from "../people/people-app.ts";
import { type RestHandler, refuseRequest, restPath } from "../rest/rest.ts";
import { type ConcurrencyLimiter, createConcurrencyLimiter } from "./concurrency-limiter.ts";
import { limitConnections } from "./connections.ts";
import { createRebindingGuard, type RebindingOptions } from "./dns-rebinding.ts";
import { parseLink, serveDownload } from "./downloads.ts";
import { createInvitationApp, invitationPath } from "./invitations.ts";
import { refuseMcpRequest } from "./mcp-admission.ts";
import type { McpEndpoint } from "./mcp-endpoint.ts";
import { createProbes, type Readiness } from "./probes.ts";
import { type WebhookHandler, webhookPath } from "./webhook-receiver.ts";

export interface HttpOptions extends RebindingOptions {
  readonly host: string;
  /** 0 for any free port. */
  readonly port: number;
  /** Requests served at once; more are answered 503. */
  readonly maxConcurrentRequests: number;
  /** Connections open at once; more are closed as they come. */
  readonly maxConnections: number;
  /** Connections open at once from one client's address. */
  readonly maxConnectionsPerAddress: number;
  /** The time that requests in flight may take to end when the server closes. */
  readonly shutdownSeconds: number;
  readonly timeouts?: typeof httpTimeouts;
}

export interface HttpSurfaces {
  readonly rest?: RestHandler;
  readonly mcp?: McpEndpoint;
  readonly downloads: Downloads;
  readonly invitations?: Invitations | undefined;
  readonly webhooks?: WebhookHandler | undefined;
  /** Content of the page at `/`, if there is one. */
  readonly home?: HomeFacts;
  /** The pipeline through which the console reads. Absent with a remote service. */
  readonly pipeline?: OperationPipeline | undefined;
  /** The people who sign in, and their pages. */
  readonly people?: PeopleServices;
  /** The services with which the pages manage access, integrations and the audit. */
  readonly admin?: AdminServices;
  /** The metadata document that names the issuer of tokens for MCP, if there is one. */
  readonly resource?: FindResource | undefined;
  readonly readiness: () => Promise<Readiness>;
  readonly telemetry: Telemetry;
  readonly log: Log;
}

/** The surfaces that a server serves until it closes. */
interface ServedSurfaces extends HttpSurfaces {
  /** Aborted when the server begins to close: ends streams that would last as long as their clients listen. */
  readonly closing: AbortSignal;
}

export interface HttpServer {
  /** `http://127.0.0.1:3000`, without a slash at the end. */
  readonly origin: string;
  /** Open connections and requests in flight. */
  load(): Promise<{ readonly connections: number; readonly requests: number }>;
  close(): Promise<void>;
}

const mcpPath = "/mcp";

/** The time that a client may take, in milliseconds. */
export const httpTimeouts = {
  /** To send a request's head. */
  headersMs: 10_000,
  /** To send all of it. */
  requestMs: 60_000,
  /** To read more of an answer. */
  stallMs: 30_000,
  /** To send the next request. Longer than load balancers keep an idle connection, so that they never use a closing one. */
  keepAliveMs: 65_000,
};
export const maxHeaderBytes = 16 * 1024;

/** Serves REST, MCP, downloads, pages, incoming webhooks, `/healthz` and `/readyz` on one port. */
export async function listenHttp(options: HttpOptions, surfaces: HttpSurfaces): Promise<HttpServer> {
  const { headersMs, requestMs, keepAliveMs, stallMs } = options.timeouts ?? httpTimeouts;
  const work = createConcurrencyLimiter(options.maxConcurrentRequests);
  const closing = new AbortController();
  const server = createServer(
    {
      maxHeaderSize: maxHeaderBytes,
      headersTimeout: headersMs,
      requestTimeout: requestMs,
      connectionsCheckingInterval: Math.ceil(headersMs / 5),
      keepAliveTimeout: keepAliveMs,
    },
    createListener(options, { ...surfaces, closing: closing.signal }, work),
  );
  endStalled(server, stallMs);
  server.maxConnections = options.maxConnections;
  limitConnections(server, options.maxConnectionsPerAddress);
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    // Connections that come while the process is busy. The system drops what is beyond, and a probe asks again for seconds.
    const backlog = options.maxConnections;
    server.listen({ port: options.port, host: options.host, backlog }, resolve);
  });
  const { port } = server.address() as AddressInfo;
  return {
    origin: `http://${formatUrlHost(options.host)}:${port}`,
    load: async () => ({ connections: await countConnections(server), requests: work.size }),
    close() {
      closing.abort();
      return closeServer(server, options.shutdownSeconds * 1000);
    },
  };
}

/** Closes connections whose client has not read from a waiting answer for `stallMs`. */
function endStalled(server: Server, stallMs: number): void {
  const answers = new WeakMap<Socket, ServerResponse>();
  server.on("request", ({ socket }, response) => answers.set(socket, response));
  // One timeout for each connection costs less than one for each answer.
  server.setTimeout(stallMs, (socket: Socket) => {
    const answer = answers.get(socket);
    // An answer in progress without buffered bytes is waiting for this server, not for the client.
    if (!answer || answer.writableEnded || answer.writableLength > 0) socket.destroy();
  });
}

function countConnections(server: Server): Promise<number> {
  return new Promise((resolve, reject) =>
    server.getConnections((error, count) => (error ? reject(error) : resolve(count))),
  );
}

function createListener(options: HttpOptions, surfaces: ServedSurfaces, work: ConcurrencyLimiter) {
  const isProbe = createProbes(surfaces.readiness);
  const findForeignName = createRebindingGuard(options);
  const findRefusal = (surface: Surface, request: IncomingMessage) =>
    isOpen(surface) ? undefined : findForeignName(request);
  const serve = createDispatcher(surfaces, work);

  return (request: IncomingMessage, response: ServerResponse): void => {
    const requestId = createId("req");
    const surface = chooseSurface(request, surfaces);
    // REST and MCP write it with the other headers, which costs less than to set it alone.
    if (surface !== "rest" && surface !== "mcp") response.setHeader("x-request-id", requestId);
    surfaces.telemetry.exchange({ surface, request, response, requestId }, () => {
      if (surface === "probe" && isProbe(request, response)) return;
      const refusal = work.enter(response)
        ? findRefusal(surface, request)
        : problem("unavailable", { retryAfterSeconds: 1 });
      if (!refusal) serve(surface, request, response, requestId);
      else if (surface === "mcp") refuseMcpRequest(request, response, requestId, refusal);
      else refuseRequest(response, requestId, refusal);
    });
  };
}

/**
 * Returns whether requests from any host and origin are allowed. An invitation's page is protected by the secret in its
 * address alone, and a browser that hides this address sends `Origin: null` with the page's own form.
 */
function isOpen(surface: Surface): boolean {
  return surface === "invitation";
}

/** Returns the surface that answers a request, by its path. */
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

function createDispatcher(surfaces: ServedSurfaces, work: ConcurrencyLimiter): Serve {
  const serveOther = getRequestListener(createApp(surfaces, work).fetch);

  async function serveMcp(request: IncomingMessage, response: ServerResponse, requestId: string) {
    try {
      const isMcp = request.url?.split("?")[0] === mcpPath;
      const answered = isMcp && (await surfaces.mcp?.answer(request, response, requestId));
      if (answered) return;
      response.setHeader("x-request-id", requestId);
      await serveOther(request, response);
    } catch (error) {
      surfaces.log.debug({ err: error, requestId }, "An MCP request failed");
      response.destroy();
    }
  }

  return (surface, request, response, requestId) => {
    const link = surface === "download" ? parseLink(request) : undefined;
    if (surface === "rest") void surfaces.rest?.(request, response, requestId);
    else if (surface === "webhook") void surfaces.webhooks?.(request, response, requestId);
    else if (surface === "mcp") void serveMcp(request, response, requestId);
    // A download lasts as long as its client reads; only finding the file counts as a request in flight.
    else if (link) void serveDownload(surfaces, link, request, response).then(() => work.leave(response));
    else void serveOther(request, response);
  };
}

function isBelow(path: string, url = ""): boolean {
  return url.startsWith(path) && /^[/?]?$/.test(url.charAt(path.length));
}

function createApp(
  { mcp, invitations, resource, home, people, admin, pipeline, closing, log }: ServedSurfaces,
  work: ConcurrencyLimiter,
): Hono<{ Bindings: HttpBindings }> {
  const app = new Hono<{ Bindings: HttpBindings }>();
  app.use("*", async (context, next) => {
    await next();
    // A stream lasts as long as its client listens; only opening it counts as a request in flight.
    work.leave(context.env.outgoing as ServerResponse);
  });
  const getRequestId = (outgoing: ServerResponse) => String(outgoing.getHeader("x-request-id"));
  if (mcp) app.all(mcpPath, (context) => mcp.fetch(context.req.raw, context.env.incoming as IncomingMessage));
  if (home) app.all("/", (context) => answerHome(context, home, people && { people, pipeline }));
  if (people) {
    addPeopleRoutes(app, people, admin);
    addConsoleRoutes(app, { people, pipeline }, closing);
  }
  app.get(iconPath, (context) => {
    const caching = { "cache-control": "public, max-age=86400", "x-content-type-options": "nosniff" };
    return context.body(iconSvg, 200, { ...caching, "content-type": "image/svg+xml" });
  });
  app.get(`${assetsPath}/:name`, answerAsset);
  app.notFound(answerNotFound);
  if (invitations) app.route(invitationPath, createInvitationApp(invitations));
  for (const path of resource?.("http://localhost").paths ?? []) {
    app.use(path, cors());
    app.get(path, (context) => context.json(resource?.(new URL(context.req.url).origin).document));
  }
  app.onError((error, context) => {
    if (error instanceof HTTPException) return error.getResponse();
    const requestId = getRequestId(context.env.outgoing as ServerResponse);
    log.error({ err: error, requestId }, "The request failed");
    const text = `A fault of this server. Try again. If it happens again, give the number ${requestId} to the people who run the server.`;
    return answerError(context, 500, { title: "Something went wrong", text });
  });
  return app;
}

/** Browsers keep an asset for ever: its path changes with its content. */
function answerAsset(context: Context): Response | Promise<Response> {
  const asset = findAsset(context.req.path);
  if (!asset) return context.notFound();
  const caching = { "cache-control": "public, max-age=31536000, immutable", "x-content-type-options": "nosniff" };
  return context.body(asset.body, 200, { ...caching, "content-type": asset.contentType });
}

/**
 * Shows browsers, which ask for HTML, the page of visitors or of the person who is signed in. Answers programs with 404
 * and the addresses that they may have meant.
 */
async function answerHome(
  context: PageContext,
  home: HomeFacts,
  services: ConsoleServices | undefined,
): Promise<Response> {
  const { origin } = new URL(context.req.url);
  context.header("vary", "accept");
  if (!isPageRequest(context)) return context.text(describeAddresses(home, origin), 404);
  if (!["GET", "HEAD"].includes(context.req.method)) return context.notFound();
  for (const [name, value] of Object.entries(pageHeaders)) context.header(name, value);
  const request = services && (await openConsoleRequest(services, context));
  if (services && request) return showToday(request, services.people, home);
  return context.html(renderHomePage(home, origin));
}

function formatUrlHost(host: string): string {
  if (host === "0.0.0.0" || host === "::") return "127.0.0.1";
  return host.includes(":") ? `[${host}]` : host;
}

const sweepMs = 50;

async function closeServer(server: Server, drainMs: number): Promise<void> {
  const closed = new Promise<void>((resolve) => server.close(() => resolve()));
  // Repeated: a connection whose answer ends later would otherwise stay open until its client closes it.
  const sweeper = setInterval(() => server.closeIdleConnections(), sweepMs);
  const timer = setTimeout(() => server.closeAllConnections(), drainMs);
  await closed;
  clearInterval(sweeper);
  clearTimeout(timer);
}
