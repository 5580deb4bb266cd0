import type { Tool } from "@modelcontextprotocol/server";
import type { Scope } from "../../contract/access/scopes.ts";
import type { ToolSettings } from "../settings.ts";
import { listOfferedTools } from "./tool-availability.ts";
import { connectionName, listing, type ToolName } from "./tool-catalog.ts";

export type { ToolName };
export const toolNames = Object.keys(listing) as ToolName[];

/**
 * Tools without an output schema, for hosts that get only text: a tool with an output schema must return structured
 * content.
 */
const textOnly: ReadonlyMap<ToolName, Tool> = new Map(
  toolNames.map((name) => {
    const { outputSchema: _, ...tool } = listing[name];
    return [name, tool];
  }),
);

/** Lists the definitions of tools that a token with these scopes can use, always in the same order. */
export function listToolDefinitions(settings: ToolSettings, scopes: ReadonlySet<Scope>): Tool[] {
  const names: readonly ToolName[] = [...listOfferedTools(settings, scopes), connectionName];
  return names.map((name) => (settings.results === "text" ? (textOnly.get(name) as Tool) : listing[name]));
}

/** The part of a tool that hosts send to their models. */
export type ToolDefinition = Pick<Tool, "name" | "title" | "description" | "inputSchema">;

export function getToolDefinition(name: ToolName): ToolDefinition {
  const { title, description, inputSchema } = listing[name];
  return { name, title, description, inputSchema };
}

export function isToolName(name: string): name is ToolName {
  return Object.hasOwn(listing, name);
}
