import { operations } from "../contract/index.ts";
import { partsOf } from "../contract/operation.ts";
import type { Gate } from "../gate/invoke.ts";
import type { Upstream } from "./port.ts";

/** The programme service in this very process. */
export function createEmbeddedUpstream(gate: Gate): Upstream {
  return {
    call: ({ operation, input, ...rest }) =>
      gate.invoke({ ...rest, operation, parts: partsOf(operations[operation], input) }),
    async identify(token) {
      const { scopes, businessId } = await gate.identify(token);
      return { scopes, realm: businessId };
    },
  };
}
