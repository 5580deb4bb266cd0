import type { Tool } from "@modelcontextprotocol/server";
import type { Scope } from "../../contract/access/scopes.ts";
import { isWorkflowName } from "../../contract/index.ts";
import type { ToolSettings } from "../settings.ts";
import { listToolDefinitions } from "./definitions.ts";
import { isOwnToolName } from "./own-tools.ts";
import { listSearchTools } from "./search.ts";

/**
 * Lists the tools that a token with these scopes can use: all of them in the mode `full`; workflows, batches and the
 * search tools in `jobs`; only the search tools in `search`. Tools that are not listed can be called all the same.
 */
export function listTools(settings: ToolSettings, scopes: ReadonlySet<Scope>): Tool[] {
  if (settings.toolMode === "search") return listSearchTools(settings, scopes);
  const tools = listToolDefinitions(settings, scopes);
  if (settings.toolMode === "full") return tools;
  const jobs = tools.filter(({ name }) => isWorkflowName(name) || isOwnToolName(name));
  return [...jobs, ...listSearchTools(settings, scopes)];
}
