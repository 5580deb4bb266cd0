import type { Config } from "../config/load.ts";
import { UsageError } from "../config/usage-error.ts";
import { findMissingScopes, scopes } from "../contract/access/scopes.ts";
import { operations } from "../contract/index.ts";
import { listOfferedTools } from "../tools/catalog/tool-availability.ts";
import { createCallerResolver } from "../transport/auth/caller-resolver.ts";
import { type GatewayKeys, type GatewayKeysOptions, openGatewayKeys } from "../transport/auth/gateway-keys.ts";
import { createTokenVerifier, type TokenVerifier } from "../transport/auth/oauth-token-verifier.ts";
import { createProtectedResource, type ProtectedResource } from "../transport/auth/protected-resource.ts";
import type { McpEndpoint } from "../transport/http/mcp-endpoint.ts";
import { createGatewayUpstream } from "../upstream/gateway.ts";
import type { Upstream } from "../upstream/port.ts";
import type { CoreServices } from "./core-services.ts";

/** Resolves the callers of MCP over HTTP, and the upstream that they call. */
export interface Callers {
  readonly upstream: Upstream;
  readonly keys?: GatewayKeys | undefined;
  readonly issuer?: TokenVerifier | undefined;
  readonly resource?: ProtectedResource | undefined;
}

export interface CallerCheck extends Callers {
  readonly mcp: McpEndpoint;
}

/** Creates the MCP endpoint over HTTP with its callers. */
export async function connectCallerCheck(
  config: Config,
  upstream: Upstream,
  mcpEndpoint: (callers: Callers) => Promise<McpEndpoint>,
  local: Pick<CoreServices, "clock" | "log">,
): Promise<CallerCheck> {
  const callers = connectCallers(config, upstream, local);
  return { ...callers, mcp: await mcpEndpoint(callers) };
}

/** Accepts access tokens of the service or, if configured, gateway keys and tokens of an OAuth issuer. */
export function connectCallers(
  config: Config,
  upstream: Upstream,
  { clock, log }: Pick<CoreServices, "clock" | "log">,
): Callers {
  const { gatewayKeys: file, oauth, token } = config;
  if (file === undefined && !oauth) return { upstream };
  const keys = file === undefined ? undefined : openKeys({ file, env: process.env, token, clock, log });
  const issuer = oauth && createTokenVerifier({ ...oauth, env: process.env, clock, log });
  const needed = listOfferedTools(config, new Set(scopes)).flatMap((name) =>
    findMissingScopes(operations[name], new Set()),
  );
  return {
    upstream: createGatewayUpstream(upstream, createCallerResolver({ keys, issuer, token }), log),
    keys,
    issuer,
    resource: oauth && createProtectedResource({ ...oauth, scopes: scopes.filter((scope) => needed.includes(scope)) }),
  };
}

function openKeys(options: GatewayKeysOptions): GatewayKeys {
  try {
    return openGatewayKeys(options);
  } catch (error) {
    throw new UsageError(`PROGRAMME_GATEWAY_KEYS: ${(error as Error).message}.`);
  }
}
