import type { Operation } from "../contract/definition/operation.ts";
import { problem } from "../contract/errors.ts";
import { findMissingScopes, type Scope } from "../contract/scopes.ts";
import type { Caller } from "../store/handler-context.ts";

type Holder = Pick<Caller, "scopes">;

/** A holder with no more than some of its scopes, where it is confined to them. */
export function confineScopes<H extends Holder>(holder: H, within: ReadonlySet<Scope> | undefined): H {
  return within ? { ...holder, scopes: holder.scopes.intersection(within) } : holder;
}

/** @throws Problem `insufficient_scope` naming every scope that is missing */
export function requireScopes(caller: Holder, required: readonly Scope[]): void {
  const missing = required.filter((scope) => !caller.scopes.has(scope));
  if (missing.length > 0) throw problem("insufficient_scope", { requiredScopes: missing });
}

/** The route's own scope (specification 4.1), checked before the input is looked at. */
export function authorize(caller: Holder, operation: Operation): void {
  const requiredScopes = findMissingScopes(operation, caller.scopes);
  if (requiredScopes.length > 0) throw problem("insufficient_scope", { requiredScopes });
}

/** Scopes that an input needs besides: person selectors and expansions. */
export function authorizeInput(caller: Holder, operation: Operation, input: Readonly<Record<string, unknown>>): void {
  if (operation.conditionalScopes) requireScopes(caller, operation.conditionalScopes(input));
}
