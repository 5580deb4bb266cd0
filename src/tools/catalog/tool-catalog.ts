import type { Tool, ToolAnnotations } from "@modelcontextprotocol/server";
import type { Effect } from "../../contract/definition/operation.ts";
import { toTitle } from "../../contract/definition/titles.ts";
import { type CallName, callNames, operations } from "../../contract/index.ts";
import { createInputSchema, createOutputSchema } from "./schema.ts";

/** The one tool that is no operation of anything: it tells of the connection itself. */
export const connectionName = "get_connection";
export const connectionSummary = "Get who you are here, what you may do, and why tools are missing";
export const connectionDetails = "Token, organisation, scopes, rate left, hidden tools and what each lacks, privacy.";

/** Whatever is listed: what can be called, then what tells of the connection. */
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

/** Every tool as a list has it, in order. Plain data, worked out when the program is bundled, as `contract/definition/operation-summaries.ts` is. */
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
