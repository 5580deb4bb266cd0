import type { Tool } from "@modelcontextprotocol/server";
import type { Scope } from "../../contract/access/scopes.ts";
import { operationSummaries } from "../../contract/definition/operation-summaries.ts";
import type { CallName } from "../../contract/index.ts";
import type { ToolSettings } from "../settings.ts";
import type { JsonSchema } from "./schema.ts";
import { listOfferedTools, listOwnTools } from "./tool-availability.ts";
import { annotations, listing, type ToolName } from "./tool-catalog.ts";

export type { ToolName };
export const toolNames = Object.keys(listing) as ToolName[];

/** Returns a tool as hosts with this form of results get it. */
function getListedTool(name: ToolName, results: ToolSettings["results"]): Tool {
  const { outputSchema, ...tool } = listing[name];
  // A tool with an output schema must return structured content, which hosts that get only text do not.
  return results === "text" && outputSchema ? tool : listing[name];
}

/** Lists the definitions of tools that a token with these scopes can use, always in the same order. */
export function listToolDefinitions(settings: ToolSettings, scopes: ReadonlySet<Scope>): Tool[] {
  const offered = listOfferedTools(settings, scopes);
  const names: readonly ToolName[] = [...offered, ...listOwnTools(settings, offered)];
  const tools = names.map((name) => getListedTool(name, settings.results));
  if (!offered.every(isReadOnly)) return tools;
  return tools.map((tool) => (tool.name === "run_batch" ? { ...tool, annotations: annotations.read } : tool));
}

function isReadOnly(name: CallName): boolean {
  return operationSummaries[name].effect === "read";
}

/** The part of a tool that hosts send to their models. */
export type ToolDefinition = Pick<Tool, "name" | "title" | "description" | "inputSchema">;

export function getToolDefinition(name: ToolName): ToolDefinition {
  const { title, description, inputSchema } = listing[name];
  return { name, title, description, inputSchema };
}

/** Returns what `describe_tool` shows: the definition, and the output schema for hosts that generate code. */
export async function describeToolDefinition(name: ToolName, { results }: ToolSettings): Promise<ToolDefinition> {
  const [tool = listing[name]] = await addDataSchemas([listing[name]], results);
  return { ...getToolDefinition(name), ...(results === "structured" && { outputSchema: tool.outputSchema }) };
}

/** Adds the fields of `data` for hosts that generate code from them: see docs/decisions/0011-output-schemas.md. */
export async function addDataSchemas(tools: Tool[], results: ToolSettings["results"]): Promise<Tool[]> {
  if (results !== "structured") return tools;
  // Other hosts do not wait until the schemas, which are longer than the list, are loaded.
  const { dataSchemas } = await import("./data-schemas.ts");
  const schemas: Readonly<Record<string, JsonSchema>> = dataSchemas;
  return tools.map((tool) => {
    const { name, outputSchema } = tool;
    const data = schemas[name];
    if (!outputSchema || !data) return tool;
    return {
      ...tool,
      outputSchema: { ...outputSchema, properties: { ...(outputSchema["properties"] as object), data } },
    };
  });
}

export function isToolName(name: string): name is ToolName {
  return Object.hasOwn(listing, name);
}
