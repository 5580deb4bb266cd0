import { splitInput } from "../contract/definition/operation.ts";
import { operations } from "../contract/index.ts";
import type { Call } from "../pipeline/call.ts";
import type { ChangeFeed } from "../pipeline/change-feed.ts";
import type { OperationPipeline } from "../pipeline/execute.ts";
import type { Admission } from "../pipeline/steps/admission.ts";
import type { Identity, Upstream, UpstreamCall } from "./port.ts";

/** Creates the upstream of the programme service in this process. */
export function createEmbeddedUpstream(pipeline: OperationPipeline, changes: ChangeFeed): Upstream {
  const toCall = ({ input, admission, identity, ...rest }: UpstreamCall): Call => ({
    ...rest,
    // Of connected apps only: the pipeline refuses their tokens, which are good for MCP alone.
    caller: identity?.attainable && identity.embedded,
    admission: admission?.embedded,
    parts: splitInput(operations[rest.operation], input),
  });
  return {
    async admit({ identity, ...head }) {
      const admission = await pipeline.admit({ ...head, caller: identity?.embedded });
      if (!admission.ok) return admission;
      return { ok: true, identity: toIdentity(admission.caller), refuse: admission.refuse, embedded: admission };
    },
    check: async (call) => pipeline.check(toCall(call)),
    call: (call) => pipeline.execute(toCall(call)),
    dryRun: (call) => pipeline.dryRun(toCall(call)),
    identify: async (token) => toIdentity(await pipeline.identify(token)),
    async describe(head) {
      const caller = head.identity?.embedded ?? (await pipeline.identify(head.token));
      const { token, business, rate } = await pipeline.describe(caller);
      const { tokenId, name, prefix, expiresAt } = token;
      return {
        identity: toIdentity(caller),
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

function toIdentity(caller: Admission["caller"]): Identity {
  const { scopes, businessId, tokenId, attainable } = caller;
  const identity = { scopes, realm: businessId, caller: tokenId, holder: { tokenId }, embedded: caller };
  return attainable ? { ...identity, attainable } : identity;
}
