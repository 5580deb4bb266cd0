import type { CallName, OperationName, Toolset } from "../index.ts";
import { operationSummaries } from "./operation-summaries.ts";

/** The same names as in `index.ts`, for modules that must not load the schemas. */
export const summarizedCalls = Object.keys(operationSummaries) as CallName[];

export const summarizedOperations = summarizedCalls.filter(
  (name) => operationSummaries[name].hasRoute,
) as OperationName[];

export const summarizedToolsets: readonly Toolset[] = [
  ...new Set(summarizedCalls.map((name) => operationSummaries[name].toolset)),
];
