import type { Config } from "../config/load.ts";
import { UsageError } from "../config/usage-error.ts";
import { findMissingScopes, type Scope, scopes } from "../contract/access/scopes.ts";
import { operations } from "../contract/index.ts";
import { listOfferedTools } from "../tools/catalog/tool-availability.ts";
import { createAppGrantResolver } from "../transport/auth/app-grants.ts";
import { getIssuer } from "../transport/auth/authorization-server.ts";
import { createCallerResolver } from "../transport/auth/caller-resolver.ts";
import { type GatewayKeys, type GatewayKeysOptions, openGatewayKeys } from "../transport/auth/gateway-keys.ts";
import { createTokenVerifier, type TokenVerifier } from "../transport/auth/oauth-token-verifier.ts";
import { createProtectedResource, type FindResource } from "../transport/auth/protected-resource.ts";
import type { McpEndpoint } from "../transport/http/mcp-endpoint.ts";
import { createAppUpstream } from "../upstream/app-upstream.ts";
import { createGatewayUpstream } from "../upstream/gateway.ts";
import type { Upstream } from "../upstream/port.ts";
import { getMcpAddress, hasAuthorizationServer } from "./authorization.ts";
import type { CoreServices } from "./core-services.ts";
import type { RemoteApps } from "./remote-apps.ts";

/** Resolves the callers of MCP over HTTP, and the upstream that they call. */
export interface Callers {
  readonly upstream: Upstream;
  readonly keys?: GatewayKeys | undefined;
  readonly issuer?: TokenVerifier | undefined;
  readonly resource?: FindResource | undefined;
}

export interface CallerDeps extends Pick<CoreServices, "clock" | "log"> {
  /** Connected apps in front of a remote service. The embedded service knows them itself. */
  readonly apps?: RemoteApps | undefined;
}

export interface CallerCheck extends Callers {
  readonly mcp: McpEndpoint;
}

/** Creates the MCP endpoint over HTTP with its callers. */
export async function connectCallerCheck(
  config: Config,
  upstream: Upstream,
  mcpEndpoint: (callers: Callers) => Promise<McpEndpoint>,
  local: CallerDeps,
): Promise<CallerCheck> {
  const callers = connectCallers(config, upstream, local);
  return { ...callers, mcp: await mcpEndpoint(callers) };
}

/** Accepts access tokens of the service and of connected apps or, if configured, gateway keys and tokens of an issuer. */
export function connectCallers(config: Config, upstream: Upstream, local: CallerDeps): Callers {
  const { gatewayKeys: file, oauth, token } = config;
  const { clock, log } = local;
  const resource = findResource(config);
  if (file === undefined && !oauth) return { upstream: withApps(config, upstream, upstream, local), resource };
  const keys = file === undefined ? undefined : openKeys({ file, env: process.env, token, clock, log });
  const issuer = oauth && createTokenVerifier({ ...oauth, env: process.env, clock, log });
  const admitted = createGatewayUpstream(upstream, createCallerResolver({ keys, issuer, token }), { log });
  return { upstream: withApps(config, upstream, admitted, local), keys, issuer, resource };
}

/** Adds connected apps to the callers of a remote service. */
function withApps(config: Config, upstream: Upstream, others: Upstream, { clock, log, apps }: CallerDeps): Upstream {
  if (!apps || !hasAuthorizationServer(config)) return others;
  const resolve = createAppGrantResolver({ ...apps, clock, publicUrl: config.publicUrl });
  return createAppUpstream(createGatewayUpstream(upstream, resolve, { ...apps, log }), others);
}

/** Returns how clients find out who issues their tokens. */
function findResource(config: Config): FindResource | undefined {
  const { oauth } = config;
  if (oauth) {
    const resource = createProtectedResource({ ...oauth, scopes: listOfferedScopes(config) });
    return () => resource;
  }
  if (!hasAuthorizationServer(config)) return undefined;
  let offered: readonly Scope[] | undefined;
  return (origin) => {
    offered ??= listOfferedScopes(config);
    const issuer = getIssuer(config.publicUrl === undefined ? origin : new URL(config.publicUrl).origin);
    return createProtectedResource({ resource: getMcpAddress(config, origin), issuer, scopes: offered });
  };
}

/** Returns the scopes that the offered tools need. */
function listOfferedScopes(config: Config): readonly Scope[] {
  const tools = listOfferedTools(config, new Set(scopes));
  const needed = tools.flatMap((name) => findMissingScopes(operations[name], new Set()));
  return scopes.filter((scope) => needed.includes(scope));
}

function openKeys(options: GatewayKeysOptions): GatewayKeys {
  try {
    return openGatewayKeys(options);
  } catch (error) {
    throw new UsageError(`PROGRAMME_GATEWAY_KEYS: ${(error as Error).message}.`);
  }
}
