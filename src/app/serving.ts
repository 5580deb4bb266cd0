import type { Config } from "../config/load.ts";
import type { HomeFacts } from "../pages/home.ts";
import type { OperationPipeline } from "../pipeline/execute.ts";
import { type HttpServer, type HttpSurfaces, listenHttp } from "../transport/http/server.ts";
import { createOpenapiDocument } from "../transport/rest/openapi.ts";
import { createRestHandler } from "../transport/rest/rest.ts";
import type { Upstream } from "../upstream/port.ts";
import { type Callers, connectDoor, type Door } from "./callers.ts";
import { webhookInlet } from "./inlet.ts";
import type { Local } from "./local.ts";

let document: string | undefined;
/** It takes longer to make than all else at the start, and few ask for it. */
const openapi = () => (document ??= JSON.stringify(createOpenapiDocument()));

export interface Serving {
  readonly upstream: Upstream;
  /** The embedded service's gate; nothing where the product has its own REST interface. */
  readonly gate: OperationPipeline | undefined;
  readonly mcpEndpoint: (callers: Callers) => Promise<Door["mcp"]>;
  readonly webhooks: Parameters<typeof webhookInlet>[1];
  readonly faces: HttpSurfaces;
}

/**
 * Serves everything on the configured host and port.
 * @throws UsageError when the gateway keys cannot be used
 */
export async function serveFaces(
  config: Config,
  { upstream, gate, mcpEndpoint, webhooks, faces }: Serving,
  local: Local,
): Promise<{ readonly server: HttpServer; readonly door: Door }> {
  const door = await connectDoor(config, upstream, mcpEndpoint, local);
  const inlet = await webhookInlet(config, webhooks, local);
  const rest = gate && createRestHandler({ ...config, gate, log: local.log, openapi });
  const home = homeFacts(config);
  const server = await listenHttp(config, { ...faces, ...door, ...(rest ? { rest } : {}), webhooks: inlet, home });
  return { server, door };
}

function homeFacts({ publicUrl, baseUrl, oauth, gatewayKeys }: Config): HomeFacts {
  const keyOrToken = gatewayKeys === undefined ? "token" : "key";
  return { publicUrl, hasRest: baseUrl === undefined, access: oauth ? "oauth" : keyOrToken };
}
