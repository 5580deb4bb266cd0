import type { Tool } from "@modelcontextprotocol/server";
import { createToolViewMeta } from "../../views/catalog.ts";

/** Adds to each tool the view of its results, and whether views may call it, for clients that show views. */
export function addViews(tools: Tool[], withViews: boolean): Tool[] {
  return withViews ? tools.map((tool) => ({ ...tool, _meta: { ui: createToolViewMeta(tool.name) } })) : tools;
}
