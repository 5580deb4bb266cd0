import type { Config } from "../config/load.ts";
import type { HomeFacts } from "../pages/home.ts";
import type { OperationPipeline } from "../pipeline/execute.ts";
import { type HttpServer, type HttpSurfaces, listenHttp } from "../transport/http/server.ts";
import { getOpenapiDocument } from "../transport/rest/openapi.ts";
import { createRestHandler } from "../transport/rest/rest.ts";
import type { Upstream } from "../upstream/port.ts";
import { connectAdmin, type ManagedParts } from "./access/admin-wiring.ts";
import { hasAuthorizationServer } from "./authorization.ts";
import { type CallerCheck, type Callers, connectCallerCheck } from "./callers.ts";
import type { CoreServices } from "./core-services.ts";
import type { RemoteApps } from "./remote-apps.ts";
import { createWebhookReceiver } from "./webhook-receiver.ts";

let openapi: string | undefined;
const serializeOpenapi = () => (openapi ??= JSON.stringify(getOpenapiDocument()));

export interface HttpWiring {
  readonly upstream: Upstream;
  /** The pipeline of the embedded service. Undefined with a remote service, which serves REST itself. */
  readonly pipeline: OperationPipeline | undefined;
  /** The pipeline on this server's own database, which has the audit of what people do here. */
  readonly localPipeline: OperationPipeline;
  readonly mcpEndpoint: (callers: Callers) => Promise<CallerCheck["mcp"]>;
  readonly webhooks: Parameters<typeof createWebhookReceiver>[1];
  readonly surfaces: HttpSurfaces;
  /** The parts of the embedded service that people manage. Undefined with a remote service. */
  readonly embedded: ManagedParts | undefined;
  /** The apps that people connect to a remote service. */
  readonly apps: RemoteApps | undefined;
}

/**
 * Serves everything on the configured host and port.
 * @throws UsageError when the gateway keys cannot be used
 */
export async function serveSurfaces(
  config: Config,
  { upstream, pipeline, localPipeline, mcpEndpoint, webhooks, surfaces, embedded, apps }: HttpWiring,
  local: CoreServices,
): Promise<{ readonly server: HttpServer; readonly callerCheck: CallerCheck }> {
  const callerCheck = await connectCallerCheck(config, upstream, mcpEndpoint, { ...local, apps });
  const webhookReceiver = await createWebhookReceiver(config, webhooks, local);
  const rest = pipeline && createRestHandler({ ...config, pipeline, log: local.log, openapi: serializeOpenapi });
  const home = getHomeFacts(config);
  const server = await listenHttp(config, {
    ...surfaces,
    ...callerCheck,
    ...(rest ? { rest } : {}),
    webhooks: webhookReceiver,
    home,
    admin: connectAdmin(local, localPipeline, embedded, callerCheck.keys),
    pipeline,
  });
  return { server, callerCheck };
}

/** Serves the pages for people, and nothing for programs, on the configured host and port. */
export function servePages(
  config: Config,
  {
    pipeline,
    localPipeline,
    surfaces,
    embedded,
  }: Pick<HttpWiring, "pipeline" | "localPipeline" | "surfaces" | "embedded">,
  local: CoreServices,
): Promise<HttpServer> {
  const home = { ...getHomeFacts(config), hasMcp: false };
  const admin = connectAdmin(local, localPipeline, embedded, undefined);
  return listenHttp(config, { ...surfaces, home, admin, pipeline });
}

function getHomeFacts(config: Config): HomeFacts {
  const { publicUrl, baseUrl, oauth, gatewayKeys } = config;
  const keyOrToken = gatewayKeys === undefined ? "token" : "key";
  const access = hasAuthorizationServer(config) ? "account" : keyOrToken;
  return { publicUrl, hasMcp: true, hasRest: baseUrl === undefined, access: oauth ? "oauth" : access };
}
