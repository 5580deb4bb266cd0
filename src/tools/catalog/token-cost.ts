import { scopes as allScopes, type Scope } from "../../contract/access/scopes.ts";
import type { ToolSettings } from "../settings.ts";
import { getToolDefinition, type ToolDefinition, toolNames } from "./definitions.ts";
import { searchTools } from "./search.ts";
import { tokenCounts } from "./token-counts.ts";
import { listTools } from "./tool-modes.ts";

/** The part of each tool that hosts send to their models: name, title, description and input schema. */
export const listedTools: readonly ToolDefinition[] = [...toolNames.map(getToolDefinition), ...searchTools];

/** The cost of a listed tool in each conversation. */
export interface ToolCost {
  readonly name: string;
  readonly bytes: number;
  /** Counted with o200k_base. Other tokenizers give similar counts. */
  readonly tokens: number;
}

/** Returns the cost of the tools listed under these settings for a token with these scopes. */
export function listToolCosts(settings: ToolSettings, scopes: ReadonlySet<Scope> = new Set(allScopes)): ToolCost[] {
  const names = new Set(listTools(settings, scopes).map(({ name }) => name));
  return listedTools
    .filter(({ name }) => names.has(name))
    .map((tool) => ({
      name: tool.name,
      bytes: Buffer.byteLength(JSON.stringify(tool)),
      tokens: tokenCounts[tool.name] ?? 0,
    }));
}
