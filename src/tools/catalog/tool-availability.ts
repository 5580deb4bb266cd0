import { findMissingScopes, type Scope } from "../../contract/access/scopes.ts";
import { summarizedCalls } from "../../contract/definition/names.ts";
import { operationSummaries } from "../../contract/definition/operation-summaries.ts";
import { problem } from "../../contract/errors.ts";
import type { CallName } from "../../contract/index.ts";
import type { ToolSettings } from "../settings.ts";

import { type OwnToolName, ownToolNames } from "./own-tools.ts";

type AvailabilitySettings = Pick<ToolSettings, "toolsets" | "tools" | "readOnly" | "hasEvents">;

/** Lists the tools that a token with these scopes can use under these settings, always in the same order. */
export function listOfferedTools(settings: AvailabilitySettings, scopes: ReadonlySet<Scope>): CallName[] {
  return summarizedCalls.filter(
    (name) =>
      findMissingScopes(operationSummaries[name], scopes).length === 0 &&
      findDisablingSetting(settings, name) === undefined,
  );
}

/** Lists the tools that are offered beside those of the given operations. */
export function listOwnTools(
  { toolsets, tools }: AvailabilitySettings,
  operationTools: readonly CallName[],
): OwnToolName[] {
  const runsBatches = operationTools.length > 0 && (toolsets ? toolsets.includes("workflows") : !tools);
  return ownToolNames.filter((name) => name !== "run_batch" || runsBatches);
}

/** @throws Problem `tool_not_offered` with the setting that disables the tool */
export function requireOffered(settings: AvailabilitySettings, name: CallName): void {
  const setting = findDisablingSetting(settings, name);
  if (setting !== undefined) throw problem("tool_not_offered", { tool: name, setting });
}

/** Returns the setting that disables a tool or its resource for agents, if any. */
export function findDisablingSetting(
  { toolsets, tools, readOnly, hasEvents }: AvailabilitySettings,
  name: CallName,
): string | undefined {
  if (readOnly && operationSummaries[name].effect !== "read") return "--read-only (PROGRAMME_READ_ONLY)";
  if (name === "list_events" && !hasEvents) return "PROGRAMME_WEBHOOK_SECRETS";
  if (!toolsets && !tools) return undefined;
  if (toolsets?.includes(operationSummaries[name].toolset) || tools?.includes(name)) return undefined;
  return toolsets ? "--toolsets (PROGRAMME_TOOLSETS)" : "--tools (PROGRAMME_TOOLS)";
}
