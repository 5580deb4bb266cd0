import { operations } from "../contract/index.ts";
import type { OperationPipeline } from "../pipeline/execute.ts";
import type { ProductTokenAdmin } from "../pipeline/users/product-token-admin.ts";
import type { GatewayUpstreamDeps } from "../upstream/gateway.ts";
import type { CoreServices } from "./core-services.ts";

export interface RemoteApps extends Pick<GatewayUpstreamDeps, "recordCall"> {
  readonly store: CoreServices["store"];
  readonly productTokens: ProductTokenAdmin;
}

/** Creates what connected apps in front of a remote service need. Their calls are audited here. */
export function createRemoteApps(
  productTokens: ProductTokenAdmin,
  pipeline: Pick<OperationPipeline, "recordCall">,
  { store, clock }: Pick<CoreServices, "store" | "clock">,
): RemoteApps {
  return {
    store,
    productTokens,
    recordCall: (caller, { operation, requestId, input }, status) =>
      pipeline.recordCall({ caller, operation: operations[operation], requestId, input, now: clock.now() }, status),
  };
}
