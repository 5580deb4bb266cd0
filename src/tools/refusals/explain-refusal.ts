import { type Problem, withRemediation } from "../../contract/errors.ts";
import type { UpstreamCall } from "../../upstream/port.ts";
import { explainInvalidArguments } from "../arguments.ts";
import { getToolArguments } from "../catalog/tool-options.ts";
import type { ToolSession } from "../session.ts";
import { describeMistakenIds } from "./id-advice.ts";
import { describeTokenScopes } from "./scope-advice.ts";
import { describeStateRoute } from "./state-advice.ts";
import { describeVersionConflict } from "./version-advice.ts";

/**
 * Explains a refused call to an agent: which tools lead to the wanted state, what changed since the caller's version,
 * which token lacks a scope, when to call again. Reads only what the caller may read.
 */
export async function explainRefusal(session: ToolSession, call: UpstreamCall, refusal: Problem): Promise<Problem> {
  const explained = explainInvalidArguments(getToolArguments(call.operation).shape, refusal);
  const remediation = (await describeWayOut(session, call, explained)) ?? describeWait(session, explained);
  return remediation === undefined ? explained : withRemediation(explained, remediation);
}

/** Explains a refusal that is repeated under an idempotency key, whose details may be out of date. */
export function explainReplay(refusal: Problem): Problem {
  return withRemediation(
    refusal,
    "This is the answer to an earlier identical call, and may be out of date. To try again, call with another idempotency key.",
  );
}

async function describeWayOut(
  session: ToolSession,
  call: UpstreamCall,
  { code, details = {} }: Problem,
): Promise<string | undefined> {
  switch (code) {
    case "invalid_state_transition":
      return describeStateRoute(call.operation, call.input, details);
    case "not_found":
      return describeMistakenIds(call.input);
    case "version_conflict":
      return describeVersionConflict(session, call, details);
    case "insufficient_scope":
      return describeTokenScopes(session, call, (details["requiredScopes"] ?? []) as readonly string[]);
    default:
      return undefined;
  }
}

/** Adds the time at which a wait ends to the recovery hint. */
function describeWait({ confirmation }: ToolSession, { details, remediation }: Problem): string | undefined {
  const retryAfterSeconds = details?.["retryAfterSeconds"];
  if (typeof retryAfterSeconds !== "number") return undefined;
  const end = new Date(confirmation.now().getTime() + retryAfterSeconds * 1000);
  return `${remediation} The wait ends at ${end.toISOString()}.`;
}
