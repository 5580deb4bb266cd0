import type { Config } from "../config/load.ts";
import { serviceUrl } from "../config/values.ts";
import { isLoopback } from "../lib/http/loopback.ts";

/** Returns whether people can connect apps: unless others issue the tokens, at an address that no one can read along. */
export function hasAuthorizationServer({ baseUrl, gatewayKeys, oauth, publicUrl, host }: Config): boolean {
  const isSafe = publicUrl === undefined ? isLoopback(host) : serviceUrl.createSchema().safeParse(publicUrl).success;
  // In front of a remote service, people and the holders of gateway keys are callers side by side.
  return (baseUrl !== undefined || gatewayKeys === undefined) && !oauth && isSafe;
}

/** Returns the address of MCP, for a client that reaches this server at an origin. */
export function getMcpAddress({ publicUrl }: Pick<Config, "publicUrl">, origin: string): string {
  return `${publicUrl ?? origin}/mcp`;
}
