import { operations } from "../../contract/index.ts";
import type { Clock } from "../../lib/clock.ts";
import type { Call, PreparedCall } from "../call.ts";
import type { Admitted } from "./admission.ts";
import { authorize, authorizeInput, confineScopes } from "./authorize.ts";
import { validateInput } from "./validate.ts";

/**
 * Authorizes an admitted call, then reads and validates its input.
 * @throws Problem `insufficient_scope`, `validation_failed`, or from reading the body
 */
export async function prepareCall(call: Call, admitted: Admitted, clock: Clock): Promise<PreparedCall> {
  const { operation: name, requestId } = call;
  const operation = operations[name];
  const caller = confineScopes(admitted.caller, call.within);
  authorize(caller, operation);
  const parts = call.readBody ? { ...call.parts, body: await call.readBody() } : call.parts;
  const input = validateInput(operation, parts);
  authorizeInput(caller, operation, input);
  return { caller, operation, requestId, input, now: clock.now(), name, call: { ...call, parts } };
}
