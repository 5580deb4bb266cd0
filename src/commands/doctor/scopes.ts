import type { App } from "../../app/app.ts";
import { readScopes, type Scope } from "../../contract/access/scopes.ts";
import { createScopeProbe } from "../../contract/definition/scope-probe.ts";
import type { Problem } from "../../contract/errors.ts";
import { createId } from "../../lib/ids.ts";
import { createAnsweredPass, createFailure, createPass, createSkip, createWarning, type DoctorCheck } from "./check.ts";

/**
 * Tries the read behind each read scope with the token.
 * @param told - the configured scopes of the token
 */
export async function checkScopes(
  { call }: App["upstream"],
  token: string,
  configured: readonly Scope[] | undefined,
): Promise<DoctorCheck[]> {
  const checks: DoctorCheck[] = [];
  for (const scope of readScopes) {
    const { operation, input, isAnswered } = createScopeProbe(scope);
    const answer = await call({ operation, input, token, requestId: createId("req") });
    const refusal = answer.ok || isAnswered(answer.problem.code) ? undefined : answer.problem;
    checks.push(createScopeCheck(scope, refusal, configured?.includes(scope)));
    // A problem of the token or of the connection applies to all scopes.
    if (refusal && ["invalid_token", "upstream_unreachable", "upstream_untrusted"].includes(refusal.code))
      return checks;
  }
  const untried = "Scopes for writing are not tried, for that would change something; nor is persons:sensitive:read.";
  return [...checks, createSkip("other scopes", untried)];
}

function createScopeCheck(scope: Scope, refusal: Problem | undefined, configured: boolean | undefined): DoctorCheck {
  if (refusal === undefined) {
    return createAnsweredPass(
      scope,
      configured === false ? "The token has it; PROGRAMME_SCOPES leaves it out." : "The token has it.",
    );
  }
  if (refusal.code !== "insufficient_scope") return createFailure(scope, refusal.message, refusal.remediation);
  if (configured === false) return createPass(scope, "The token lacks it, and PROGRAMME_SCOPES leaves it out.");
  if (configured === undefined) {
    return createWarning(
      scope,
      "The token lacks it: tools that need it are hidden.",
      "Add it to the token if agents need it.",
    );
  }
  const fix = "Add it to the token, or take it out of PROGRAMME_SCOPES.";
  return createWarning(scope, "PROGRAMME_SCOPES names it, but the token lacks it.", fix);
}
