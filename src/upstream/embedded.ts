import { splitInput } from "../contract/definition/operation.ts";
import { operations } from "../contract/index.ts";
import type { ChangeFeed } from "../pipeline/change-feed.ts";
import type { Call, OperationPipeline } from "../pipeline/execute.ts";
import type { Upstream, UpstreamCall } from "./port.ts";

/** The programme service in this very process. */
export function createEmbeddedUpstream(pipeline: OperationPipeline, changes: ChangeFeed): Upstream {
  const toCall = ({ input, ...rest }: UpstreamCall): Call => ({
    ...rest,
    parts: splitInput(operations[rest.operation], input),
  });
  return {
    admit: (head) => pipeline.admit(head),
    check: async (call) => pipeline.check(toCall(call)),
    call: (call) => pipeline.execute(toCall(call)),
    dryRun: (call) => pipeline.dryRun(toCall(call)),
    async identify(token) {
      const { scopes, businessId, tokenId } = await pipeline.identify(token);
      return { scopes, realm: businessId, caller: tokenId };
    },
    async describe({ token: bearer }) {
      const { token, business, rate } = await pipeline.describe(bearer);
      const { tokenId, name, prefix, expiresAt } = token;
      return {
        upstream: "embedded",
        token: { tokenId, name, prefix, expiresAt },
        business: { businessId: business.businessId, name: business.name },
        scopesAre: "granted",
        rate,
        events: "embedded",
        fault: undefined,
      };
    },
    watch: changes.watch,
    watchesRecords: true,
  };
}
