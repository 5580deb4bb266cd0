import type { IncomingMessage, ServerResponse } from "node:http";
import { hostHeaderValidation } from "@modelcontextprotocol/node";
import { localhostAllowedHostnames, validateOriginHeader } from "@modelcontextprotocol/server";
import { isLoopback } from "../../lib/http/loopback.ts";

export interface RebindingOptions {
  /** Host names that requests may name, beside loopback names. */
  readonly allowedHosts: readonly string[];
  /** Origins whose pages may send requests, beside this server's own. */
  readonly allowedOrigins: readonly string[];
}

/** Returns whether a request is allowed. Answers it with 403 if not. */
export type RebindingGuard = (request: IncomingMessage, response: ServerResponse, requestId: string) => boolean;

/** Allowed pairs of host and origin are cached: a check costs as much as the rest of a small request. */
const maxAllowed = 100;

/** Refuses requests of browsers under another host's name (DNS rebinding), or from another site's page. */
export function createRebindingGuard({ allowedHosts, allowedOrigins }: RebindingOptions): RebindingGuard {
  // A loopback name always leads to the browser's own machine, so no remote page has one.
  const isHost = hostHeaderValidation([...localhostAllowedHostnames(), ...allowedHosts]);
  const namedOrigins = new Set(allowedOrigins);
  // Each port of this machine may be another program: a page's loopback name without its port proves nothing.
  const pageHosts = allowedHosts.filter((name) => !isLoopback(name));
  const allowed = new Set<string>();

  function isOrigin({ headers: { origin }, socket }: IncomingMessage): boolean {
    if (origin === undefined || namedOrigins.has(origin)) return true;
    const isOwn = localhostAllowedHostnames().some(
      (name) => origin === normalizeOrigin(`http://${name}:${socket.localPort}`),
    );
    return isOwn || validateOriginHeader(origin, pageHosts).ok;
  }

  return (request, response, requestId) => {
    const names = `${request.headers.host} ${request.headers.origin}`;
    if (allowed.has(names)) return true;
    response.setHeader("x-request-id", requestId);
    if (!isHost(request, response)) return false;
    if (!isOrigin(request)) return refuseOrigin(request, response);
    if (allowed.size < maxAllowed) allowed.add(names);
    return true;
  };
}

/** Returns an origin as browsers write it: without the default port. */
function normalizeOrigin(address: string): string {
  return new URL(address).origin;
}

function refuseOrigin({ headers }: IncomingMessage, response: ServerResponse): false {
  const message = `Invalid Origin: ${headers.origin}. PROGRAMME_ALLOWED_ORIGINS names the pages that are let in.`;
  const body = JSON.stringify({ jsonrpc: "2.0", error: { code: -32_000, message }, id: null });
  response.writeHead(403, { "content-type": "application/json" }).end(body);
  return false;
}
