import { type CallName, callNames, getToolset, isOperationName, operations, type Toolset } from "../index.ts";
import type { Scope } from "../scopes.ts";
import type { Effect } from "./operation.ts";

/** What lists depend on, of whatever can be called. */
export interface Outline {
  readonly toolset: Toolset;
  readonly effect: Effect;
  readonly scope: Scope;
  readonly anyOfScopes: readonly Scope[];
  /** Whether it is an operation of the interface. */
  readonly hasRoute: boolean;
}

/**
 * The contract without its schemas, in its order. Plain data, worked out when the program is bundled: a start that only
 * lists has no time to make all schemas.
 */
export const outline = Object.fromEntries(callNames.map((name) => [name, summarizeOperation(name)])) as Readonly<
  Record<CallName, Outline>
>;

function summarizeOperation(name: CallName): Outline {
  const { effect, scope, anyOfScopes = [] } = operations[name];
  return { toolset: getToolset(name), effect, scope, anyOfScopes, hasRoute: isOperationName(name) };
}
