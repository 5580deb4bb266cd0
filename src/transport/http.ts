import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { getRequestListener, type HttpBindings } from "@hono/node-server";
import { hostHeaderValidation, originValidation } from "@modelcontextprotocol/node";
import { localhostAllowedHostnames, localhostAllowedOrigins } from "@modelcontextprotocol/server";
import { Hono } from "hono";
import { cors } from "hono/cors";
import type { Downloads } from "../gate/downloads.ts";
import type { Invitations } from "../gate/invitations.ts";
import { newId } from "../lib/ids.ts";
import type { Log } from "../lib/log.ts";
import { isLoopback } from "../lib/loopback.ts";
import { linkOf, serveDownload } from "./files.ts";
import { createInvitationApp, invitationPath } from "./invitations.ts";
import type { McpEndpoint } from "./mcp.ts";
import type { ProtectedResource } from "./oauth.ts";
import { type RestHandler, refuseBusy, restPath } from "./rest.ts";
import { type WebhookHandler, webhookPath } from "./webhooks.ts";

export interface HttpOptions {
  readonly host: string;
  /** 0 takes any free one. */
  readonly port: number;
  /** Host names that requests may be addressed to; loopback names always may when bound to loopback. */
  readonly allowedHosts: readonly string[];
  /** Requests served at once; more are answered 503. */
  readonly maxConcurrentRequests: number;
}

export interface HttpFaces {
  readonly rest?: RestHandler;
  readonly mcp?: McpEndpoint;
  readonly downloads: Downloads;
  readonly invitations?: Invitations | undefined;
  readonly webhooks?: WebhookHandler | undefined;
  /** What says where tokens for MCP are issued, if they are. */
  readonly resource?: ProtectedResource | undefined;
  readonly log: Log;
}

export interface HttpServer {
  /** `http://127.0.0.1:3000`, without a slash at the end. */
  readonly origin: string;
  close(): Promise<void>;
}

/** Serves REST, MCP, downloads, invitations, webhooks that come in and `/healthz` on one port. */
export async function listen(options: HttpOptions, faces: HttpFaces): Promise<HttpServer> {
  const server = createServer(createListener(options, faces));
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(options.port, options.host, resolve);
  });
  const { port } = server.address() as AddressInfo;
  return { origin: `http://${urlHost(options.host)}:${port}`, close: () => closeServer(server) };
}

function createListener(options: HttpOptions, faces: HttpFaces) {
  /** Requests at work, so that each is counted out once, however it ends. */
  const working = new Set<ServerResponse>();
  const serveOther = getRequestListener(createApp(faces, working).fetch);
  const isAllowed = createGuard(options);

  return (request: IncomingMessage, response: ServerResponse): void => {
    const requestId = newId("req");
    const rest = isBelow(restPath, request.url) ? faces.rest : undefined;
    const webhooks = isBelow(webhookPath, request.url) ? faces.webhooks : undefined;
    if (!rest) response.setHeader("x-request-id", requestId);
    if (request.url === "/healthz") {
      void serveOther(request, response);
    } else if (working.size >= options.maxConcurrentRequests) {
      refuseBusy(response, requestId);
    } else if (isOpen(request) || isAllowed(request, response, requestId)) {
      working.add(response);
      response.once("close", () => working.delete(response));
      const link = linkOf(request);
      if (rest) void rest(request, response, requestId);
      else if (webhooks) void webhooks(request, response, requestId);
      else if (!link) void serveOther(request, response);
      // A download lasts as long as its client takes; only what led to it is work.
      else void serveDownload(faces, link, request, response).then(() => working.delete(response));
    }
  };
}

/**
 * An invitation's page counts on the secret in its address alone, whoever leads there; and a browser that keeps that
 * address to itself says of the page's own form that it comes from nowhere.
 */
function isOpen({ url }: IncomingMessage): boolean {
  return isBelow(invitationPath, url);
}

function isBelow(path: string, url = ""): boolean {
  return url.startsWith(path) && /^[/?]?$/.test(url.charAt(path.length));
}

function createApp(
  { mcp, invitations, resource, log }: HttpFaces,
  working: Set<ServerResponse>,
): Hono<{ Bindings: HttpBindings }> {
  const app = new Hono<{ Bindings: HttpBindings }>();
  app.use("*", async (context, next) => {
    await next();
    // A stream lasts as long as its client listens; only what led to it is work.
    working.delete(context.env.outgoing as ServerResponse);
  });
  const requestIdOf = (outgoing: ServerResponse) => String(outgoing.getHeader("x-request-id"));
  app.get("/healthz", (context) => context.json({ status: "ok" }));
  if (mcp)
    app.all("/mcp", (context) => mcp.fetch(context.req.raw, requestIdOf(context.env.outgoing as ServerResponse)));
  if (invitations) app.route(invitationPath, createInvitationApp(invitations));
  for (const path of resource?.paths ?? []) {
    app.use(path, cors());
    app.get(path, (context) => context.json(resource?.document));
  }
  app.onError((error, context) => {
    log.error({ err: error, requestId: requestIdOf(context.env.outgoing as ServerResponse) }, "The request failed");
    return context.text("Internal error", 500);
  });
  return app;
}

/** Names that were found good are remembered: looking into one costs as much as the rest of a small request. */
const maxRemembered = 100;

/** Against DNS rebinding: a browser must not reach this server under a stranger's name or from a stranger's page. */
function createGuard({ host, allowedHosts }: HttpOptions) {
  const isHost = hostHeaderValidation([...(isLoopback(host) ? localhostAllowedHostnames() : []), ...allowedHosts]);
  const isOrigin = originValidation([...localhostAllowedOrigins(), ...allowedHosts]);
  const good = new Set<string>();
  return (request: IncomingMessage, response: ServerResponse, requestId: string): boolean => {
    const names = `${request.headers.host} ${request.headers.origin}`;
    if (good.has(names)) return true;
    response.setHeader("x-request-id", requestId);
    if (!isHost(request, response) || !isOrigin(request, response)) return false;
    if (good.size < maxRemembered) good.add(names);
    return true;
  };
}

function urlHost(host: string): string {
  if (host === "0.0.0.0" || host === "::") return "127.0.0.1";
  return host.includes(":") ? `[${host}]` : host;
}

/** How long open requests may finish in. */
const drainMs = 5_000;

const sweepMs = 50;

async function closeServer(server: Server): Promise<void> {
  const closed = new Promise<void>((resolve) => server.close(() => resolve()));
  // Again and again: a connection whose answer ends only now would stay until its client lets go of it.
  const sweeper = setInterval(() => server.closeIdleConnections(), sweepMs);
  const timer = setTimeout(() => server.closeAllConnections(), drainMs);
  await closed;
  clearInterval(sweeper);
  clearTimeout(timer);
}
