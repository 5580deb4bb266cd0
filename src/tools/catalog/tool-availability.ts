import { summarizedCalls } from "../../contract/definition/names.ts";
import { operationSummaries } from "../../contract/definition/operation-summaries.ts";
import { problem } from "../../contract/errors.ts";
import type { CallName } from "../../contract/index.ts";
import { findMissingScopes, type Scope } from "../../contract/scopes.ts";
import type { ToolSettings } from "../settings.ts";

type OfferSettings = Pick<ToolSettings, "toolsets" | "tools" | "readOnly" | "hasEvents">;

/** The tools that a token with these scopes can use under these settings, always in the same order. */
export function listOfferedTools(settings: OfferSettings, scopes: ReadonlySet<Scope>): CallName[] {
  return summarizedCalls.filter(
    (name) =>
      findMissingScopes(operationSummaries[name], scopes).length === 0 &&
      disabledBySetting(settings, name) === undefined,
  );
}

/** @throws Problem `tool_not_offered` naming the setting that withholds the tool */
export function requireOffered(settings: OfferSettings, name: CallName): void {
  const setting = disabledBySetting(settings, name);
  if (setting !== undefined) throw problem("tool_not_offered", { tool: name, setting });
}

/** The setting that keeps a tool, and what it reads, from agents; nothing where none does. */
export function disabledBySetting(
  { toolsets, tools, readOnly, hasEvents }: OfferSettings,
  name: CallName,
): string | undefined {
  if (readOnly && operationSummaries[name].effect !== "read") return "--read-only (PROGRAMME_READ_ONLY)";
  if (name === "list_events" && !hasEvents) return "PROGRAMME_WEBHOOK_SECRETS";
  if (!toolsets && !tools) return undefined;
  if (toolsets?.includes(operationSummaries[name].toolset) || tools?.includes(name)) return undefined;
  return toolsets ? "--toolsets (PROGRAMME_TOOLSETS)" : "--tools (PROGRAMME_TOOLS)";
}
