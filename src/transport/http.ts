import type { AddressInfo } from "node:net";
import { type ServerType, serve } from "@hono/node-server";
import { hostHeaderValidation, originValidation } from "@modelcontextprotocol/hono";
import { localhostAllowedHostnames, localhostAllowedOrigins } from "@modelcontextprotocol/server";
import { Hono } from "hono";
import type { Log } from "../lib/log.ts";
import { isLoopback } from "../lib/loopback.ts";
import type { FileLinks } from "./files.ts";
import { serveFile } from "./files.ts";
import type { McpEndpoint } from "./mcp.ts";
import { nameRequest, requestIdOf } from "./request-id.ts";
import { refuseBusy } from "./rest.ts";

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
  readonly rest?: Hono;
  readonly mcp?: McpEndpoint;
  readonly files: FileLinks;
  readonly log: Log;
}

export interface HttpServer {
  /** `http://127.0.0.1:3000`, without a slash at the end. */
  readonly origin: string;
  close(): Promise<void>;
}

/** Serves REST, MCP, file links and `/healthz` on one port. */
export async function listen(options: HttpOptions, faces: HttpFaces): Promise<HttpServer> {
  const app = createApp(options, faces);
  const server = await new Promise<ServerType>((resolve, reject) => {
    const starting = serve({ fetch: app.fetch, hostname: options.host, port: options.port }, () => resolve(starting));
    starting.once("error", reject);
  });
  const { port } = server.address() as AddressInfo;
  return { origin: `http://${urlHost(options.host)}:${port}`, close: () => closeServer(server) };
}

function createApp(options: HttpOptions, { rest, mcp, files, log }: HttpFaces): Hono {
  const app = new Hono();
  app.use("*", nameRequest);
  app.get("/healthz", (context) => context.json({ status: "ok" }));
  app.use("*", concurrencyLimit(options.maxConcurrentRequests));
  const guards = guardsOf(options);
  for (const guard of guards) app.use("*", guard);
  if (rest) app.route("/integrations/v1", rest);
  if (mcp) app.all("/mcp", (context) => mcp.fetch(context.req.raw, requestIdOf(context)));
  app.get("/files/:fileId", (context) => serveFile(files, context));
  app.onError((error, context) => {
    log.error({ err: error, requestId: requestIdOf(context) }, "The request failed");
    return context.text("Internal error", 500);
  });
  return app;
}

/** Against DNS rebinding: a browser must not reach this server under a stranger's name or from a stranger's page. */
function guardsOf({ host, allowedHosts }: HttpOptions) {
  const loopback = isLoopback(host);
  if (!loopback && allowedHosts.length === 0) return [originValidation(localhostAllowedOrigins())];
  const hosts = [...(loopback ? localhostAllowedHostnames() : []), ...allowedHosts];
  return [hostHeaderValidation(hosts), originValidation([...localhostAllowedOrigins(), ...allowedHosts])];
}

function concurrencyLimit(max: number) {
  let running = 0;
  return async (_: unknown, next: () => Promise<void>): Promise<Response | undefined> => {
    if (running >= max) return refuseBusy();
    running += 1;
    try {
      await next();
      return undefined;
    } finally {
      running -= 1;
    }
  };
}

function urlHost(host: string): string {
  if (host === "0.0.0.0" || host === "::") return "127.0.0.1";
  return host.includes(":") ? `[${host}]` : host;
}

/** How long open requests may finish in. */
const drainMs = 5_000;

const sweepMs = 50;

async function closeServer(server: ServerType): Promise<void> {
  const closed = new Promise<void>((resolve) => server.close(() => resolve()));
  if (!("closeIdleConnections" in server)) return closed;
  // Again and again: a connection whose answer ends only now would stay until its client lets go of it.
  const sweeper = setInterval(() => server.closeIdleConnections(), sweepMs);
  const timer = setTimeout(() => server.closeAllConnections(), drainMs);
  await closed;
  clearInterval(sweeper);
  clearTimeout(timer);
}
