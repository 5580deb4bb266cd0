import type { IncomingMessage } from "node:http";
import { localhostAllowedHostnames, validateHostHeader, validateOriginHeader } from "@modelcontextprotocol/server";
import { type Problem, problem } from "../../contract/errors.ts";
import { isLoopback } from "../../lib/http/loopback.ts";

export interface RebindingOptions {
  /** Host names that requests may name, beside loopback names. */
  readonly allowedHosts: readonly string[];
  /** Origins whose pages may send requests, beside this server's own. */
  readonly allowedOrigins: readonly string[];
}

/** Returns the problem that refuses a request, or undefined if the request is allowed. */
export type RebindingGuard = (request: IncomingMessage) => Problem | undefined;

/** Allowed pairs of host and origin are cached: a check costs as much as the rest of a small request. */
const maxAllowed = 100;

/** Refuses requests of browsers under another host's name (DNS rebinding), or from another site's page. */
export function createRebindingGuard({ allowedHosts, allowedOrigins }: RebindingOptions): RebindingGuard {
  // A loopback name always leads to the browser's own machine, so no remote page has one.
  const hosts = [...localhostAllowedHostnames(), ...allowedHosts];
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

  return (request) => {
    const { host, origin } = request.headers;
    const names = `${host} ${origin}`;
    if (allowed.has(names)) return undefined;
    if (!validateHostHeader(host, hosts).ok) return problem("host_not_allowed", { setting: "PROGRAMME_ALLOWED_HOSTS" });
    if (!isOrigin(request)) return problem("origin_not_allowed", { setting: "PROGRAMME_ALLOWED_ORIGINS" });
    if (allowed.size < maxAllowed) allowed.add(names);
    return undefined;
  };
}

/** Returns an origin as browsers write it: without the default port. */
function normalizeOrigin(address: string): string {
  return new URL(address).origin;
}
