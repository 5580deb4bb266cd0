import { findMissingScopes, type Scope } from "../../contract/access/scopes.ts";
import type { Operation } from "../../contract/definition/operation.ts";
import { problem } from "../../contract/errors.ts";
import type { Caller } from "../../store/handler-context.ts";

type ScopeHolder = Pick<Caller, "scopes">;

/** Restricts a caller to some of its scopes. */
export function confineScopes<H extends ScopeHolder>(holder: H, within: ReadonlySet<Scope> | undefined): H {
  return within ? { ...holder, scopes: holder.scopes.intersection(within) } : holder;
}

/** @throws Problem `insufficient_scope` naming every scope that is missing */
export function requireScopes(caller: ScopeHolder, required: readonly Scope[]): void {
  const missing = required.filter((scope) => !caller.scopes.has(scope));
  if (missing.length > 0) throw problem("insufficient_scope", { requiredScopes: missing });
}

/**
 * Checks the scope of an operation (specification 4.1). It runs before the input is read.
 * @throws Problem `insufficient_scope`
 */
export function authorize(caller: ScopeHolder, operation: Operation): void {
  const requiredScopes = findMissingScopes(operation, caller.scopes);
  if (requiredScopes.length > 0) throw problem("insufficient_scope", { requiredScopes });
}

/**
 * Checks the further scopes that an input needs, such as for person selectors and expansions.
 * @throws Problem `insufficient_scope`
 */
export function authorizeInput(
  caller: ScopeHolder,
  operation: Operation,
  input: Readonly<Record<string, unknown>>,
): void {
  if (operation.conditionalScopes) requireScopes(caller, operation.conditionalScopes(input));
}
