import type { IncomingMessage, ServerResponse } from "node:http";
import { hostHeaderValidation } from "@modelcontextprotocol/node";
import { localhostAllowedHostnames, validateOriginHeader } from "@modelcontextprotocol/server";
import { isLoopback } from "../../lib/http/loopback.ts";

export interface RebindingOptions {
  /** Host names that requests may be addressed to, beside loopback names. */
  readonly allowedHosts: readonly string[];
  /** Origins of pages whose requests are let in, beside pages of this server and of its other names. */
  readonly allowedOrigins: readonly string[];
}

/** Returns whether a request may go on; answers it with 403 where it may not. */
export type RebindingGuard = (request: IncomingMessage, response: ServerResponse, requestId: string) => boolean;

/** Names that were found good are remembered: looking into one costs as much as the rest of a small request. */
const maxRemembered = 100;

/** Keeps browsers from reaching this server under a stranger's name or from a stranger's page. */
export function createRebindingGuard({ allowedHosts, allowedOrigins }: RebindingOptions): RebindingGuard {
  // A loopback name leads to whoever asks: no stranger's page has one.
  const isHost = hostHeaderValidation([...localhostAllowedHostnames(), ...allowedHosts]);
  const namedOrigins = new Set(allowedOrigins);
  // Each port of this machine is another program, whose pages are strangers: a loopback name alone says nothing.
  const pageHosts = allowedHosts.filter((name) => !isLoopback(name));
  const good = new Set<string>();

  function isOrigin({ headers: { origin }, socket }: IncomingMessage): boolean {
    if (origin === undefined || namedOrigins.has(origin)) return true;
    const isOwn = localhostAllowedHostnames().some((name) => origin === originOf(`http://${name}:${socket.localPort}`));
    return isOwn || validateOriginHeader(origin, pageHosts).ok;
  }

  return (request, response, requestId) => {
    const names = `${request.headers.host} ${request.headers.origin}`;
    if (good.has(names)) return true;
    response.setHeader("x-request-id", requestId);
    if (!isHost(request, response)) return false;
    if (!isOrigin(request)) return refuseOrigin(request, response);
    if (good.size < maxRemembered) good.add(names);
    return true;
  };
}

/** Without the port where it is the scheme's own, as browsers write it. */
function originOf(address: string): string {
  return new URL(address).origin;
}

function refuseOrigin({ headers }: IncomingMessage, response: ServerResponse): false {
  const message = `Invalid Origin: ${headers.origin}. PROGRAMME_ALLOWED_ORIGINS names the pages that are let in.`;
  const body = JSON.stringify({ jsonrpc: "2.0", error: { code: -32_000, message }, id: null });
  response.writeHead(403, { "content-type": "application/json" }).end(body);
  return false;
}
