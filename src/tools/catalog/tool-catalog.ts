import type { Tool, ToolAnnotations } from "@modelcontextprotocol/server";
import type { Effect } from "../../contract/definition/operation.ts";
import { toTitle } from "../../contract/definition/titles.ts";
import { type CallName, callNames, operations } from "../../contract/index.ts";
import { createInputSchema, createOutputSchema } from "./schema.ts";

/** The only tool that is not an operation. It describes the connection. */
export const connectionName = "get_connection";
export const connectionSummary = "Get your identity and permissions, and why tools are missing";
export const connectionDetails =
  "Token, organisation, scopes, remaining rate, hidden tools and what each lacks, privacy.";

/** All listed tools: the operations, then the connection tool. */
export type ToolName = CallName | typeof connectionName;

const annotations: Readonly<Record<Effect, ToolAnnotations>> = {
  read: { readOnlyHint: true, openWorldHint: false },
  create: { readOnlyHint: false, destructiveHint: false, idempotentHint: false, openWorldHint: false },
  update: { readOnlyHint: false, destructiveHint: true, idempotentHint: true, openWorldHint: false },
  destroy: { readOnlyHint: false, destructiveHint: true, idempotentHint: true, openWorldHint: false },
  send: { readOnlyHint: false, destructiveHint: true, idempotentHint: false, openWorldHint: true },
};

const connection = {
  description: `${connectionSummary}. ${connectionDetails}`,
  effect: "read",
  inputSchema: { type: "object", additionalProperties: false },
  outputSchema: { type: "object", properties: { data: { type: "object" } }, required: ["data"] },
} as const;

const names: readonly ToolName[] = [...callNames, connectionName];

/**
 * Every tool as listed, in order. It is evaluated when the program is bundled, like
 * `contract/definition/operation-summaries.ts`.
 */
export const listing = Object.fromEntries(names.map((name) => [name, createTool(name)])) as Readonly<
  Record<ToolName, Tool>
>;

function createTool(name: ToolName): Tool {
  const { effect, ...parts } = name === connectionName ? connection : listSchemaParts(name);
  const { description, inputSchema, outputSchema } = parts;
  return {
    name,
    title: toTitle(name),
    description,
    inputSchema,
    annotations: annotations[effect],
    outputSchema,
  } as Tool;
}

function listSchemaParts(name: CallName) {
  const { summary, description, effect } = operations[name];
  return {
    description: description ? `${summary}. ${description}` : `${summary}.`,
    effect,
    inputSchema: createInputSchema(name),
    outputSchema: createOutputSchema(name),
  };
}
