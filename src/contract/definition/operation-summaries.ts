import type { Scope } from "../access/scopes.ts";
import { type CallName, callNames, getToolset, isOperationName, operations, type Toolset } from "../index.ts";
import type { Effect } from "./operation.ts";

/** The part of an operation that tool lists depend on. */
export interface OperationSummary {
  readonly toolset: Toolset;
  readonly effect: Effect;
  readonly scope: Scope;
  readonly anyOfScopes: readonly Scope[];
  /** False for operations that only agents can call. */
  readonly hasRoute: boolean;
}

/**
 * The contract without its schemas, in its order. It is evaluated when the program is bundled, because creating all
 * schemas would delay a start that only lists tools.
 */
export const operationSummaries = Object.fromEntries(
  callNames.map((name) => [name, summarizeOperation(name)]),
) as Readonly<Record<CallName, OperationSummary>>;

function summarizeOperation(name: CallName): OperationSummary {
  const { effect, scope, anyOfScopes = [] } = operations[name];
  return { toolset: getToolset(name), effect, scope, anyOfScopes, hasRoute: isOperationName(name) };
}
