import { type Approvals, approvalsPath } from "../approvals/approvals.ts";
import type { Config } from "../config/load.ts";
import type { CallName } from "../contract/index.ts";
import { toNamedOrigin } from "../lib/http/loopback.ts";
import { version } from "../lib/version.ts";
import { createConfirmationConsumer } from "../pipeline/confirmation.ts";
import { createSessionRegistry } from "../pipeline/tokens/session-registry.ts";
import { findDisablingSetting } from "../tools/catalog/tool-availability.ts";
import type { ConfirmationPolicy } from "../tools/session.ts";
import { createFastPath } from "../transport/fast-path/fast-path.ts";
import { createServerFactory } from "../transport/mcp-server.ts";
import type { Upstream } from "../upstream/port.ts";
import type { Callers } from "./callers.ts";
import type { CoreServices } from "./core-services.ts";
import type { HttpServers } from "./http-servers.ts";

/** Creates MCP over stdio and HTTP: the tools that are offered, and the confirmation policy. */
export async function connectMcp(
  config: Config,
  upstream: Upstream,
  { servers, approvals }: { readonly servers: Pick<HttpServers, "getOrigin">; readonly approvals: Approvals },
  { store, clock, log, telemetry }: CoreServices,
) {
  const isDisabled = (name: CallName) => findDisablingSetting(config, name);
  const confirmation: ConfirmationPolicy = {
    mode: config.confirm,
    approved: new Set(config.approvedTools),
    key: await store.secret("confirmations"),
    consume: createConfirmationConsumer(store, clock),
    approvals,
    getApprovalUrl: async (approvalId) => `${toNamedOrigin(await servers.getOrigin())}${approvalsPath}/${approvalId}`,
    now: () => clock.now(),
  };
  const sessionRegistry = createSessionRegistry(store, clock);
  const sessionKey = await store.secret("sessions");
  const common = { version, log, telemetry, confirmation, settings: config, disabledBySetting: isDisabled };
  const createServer = (token: string | undefined) => createServerFactory({ ...common, upstream, token });
  const createEndpoint = async (callers: Callers) => {
    const { createMcpEndpoint } = await import("../transport/http/mcp-endpoint.ts");
    const factory = createServerFactory({ ...common, upstream: callers.upstream });
    const { resource: findChallenge } = callers;
    const serving = { upstream: callers.upstream, factory, findChallenge, sessionRegistry, sessionKey, clock };
    return createMcpEndpoint({ ...config, ...common, ...serving });
  };
  return {
    disabledBySetting: isDisabled,
    mcpServer: createServer,
    mcpEndpoint: createEndpoint,
    fastPath: createFastPath({ ...common, upstream }),
  };
}
