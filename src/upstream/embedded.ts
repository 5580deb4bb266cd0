import { operations } from "../contract/index.ts";
import { partsOf } from "../contract/operation.ts";
import type { ChangeFeed } from "../gate/changes.ts";
import type { Call, Gate } from "../gate/invoke.ts";
import type { Upstream, UpstreamCall } from "./port.ts";

/** The programme service in this very process. */
export function createEmbeddedUpstream(gate: Gate, changes: ChangeFeed): Upstream {
  const callOf = ({ input, ...rest }: UpstreamCall): Call => ({
    ...rest,
    parts: partsOf(operations[rest.operation], input),
  });
  return {
    call: (call) => gate.invoke(callOf(call)),
    rehearse: (call) => gate.rehearse(callOf(call)),
    async identify(token) {
      const { scopes, businessId } = await gate.identify(token);
      return { scopes, realm: businessId };
    },
    watch: changes.watch,
  };
}
