import type { Tool } from "@modelcontextprotocol/server";
import type { Scope } from "../../contract/scopes.ts";
import type { ToolSettings } from "../settings.ts";
import { listOfferedTools } from "./tool-availability.ts";
import { connectionName, listing, type ToolName } from "./tool-catalog.ts";

export type { ToolName };
export const toolNames = Object.keys(listing) as ToolName[];

/** For hosts that get text alone: a tool that promises structured content must give it. */
const textOnly: ReadonlyMap<ToolName, Tool> = new Map(
  toolNames.map((name) => {
    const { outputSchema: _, ...tool } = listing[name];
    return [name, tool];
  }),
);

/** The tools that a token with these scopes can use under these settings, always in the same order. */
export function listToolDefinitions(settings: ToolSettings, scopes: ReadonlySet<Scope>): Tool[] {
  const names: readonly ToolName[] = [...listOfferedTools(settings, scopes), connectionName];
  return names.map((name) => (settings.results === "text" ? (textOnly.get(name) as Tool) : listing[name]));
}

/** What a host may tell its model of a tool. */
export type ToolDefinition = Pick<Tool, "name" | "title" | "description" | "inputSchema">;

/** Returns a tool's name, title, description and input schema. */
export function getToolDefinition(name: ToolName): ToolDefinition {
  const { title, description, inputSchema } = listing[name];
  return { name, title, description, inputSchema };
}

export function isToolName(name: string): name is ToolName {
  return Object.hasOwn(listing, name);
}
