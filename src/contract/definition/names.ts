import type { CallName, OperationName, Toolset } from "../index.ts";
import { operationSummaries } from "./operation-summaries.ts";

/** The same names as in `index.ts`, for modules that must not load the schemas. */
export const callNames = Object.keys(operationSummaries) as CallName[];

export const operationNames = callNames.filter((name) => operationSummaries[name].hasRoute) as OperationName[];

export const toolsetNames: readonly Toolset[] = [...new Set(callNames.map((name) => operationSummaries[name].toolset))];
