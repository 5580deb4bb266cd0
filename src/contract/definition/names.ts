import type { CallName, OperationName, Toolset } from "../index.ts";
import { outline } from "./operation-summaries.ts";

/** The names of `index.ts`, for whoever needs no more than them. */
export const callNames = Object.keys(outline) as CallName[];

export const operationNames = callNames.filter((name) => outline[name].hasRoute) as OperationName[];

export const toolsetNames: readonly Toolset[] = [...new Set(callNames.map((name) => outline[name].toolset))];
