import type { Tool, ToolAnnotations } from "@modelcontextprotocol/server";
import type { Effect } from "../../contract/definition/operation.ts";
import { toTitle } from "../../contract/definition/titles.ts";
import { type CallName, callNames, operations } from "../../contract/index.ts";
import { ownTools } from "./own-tool-definitions.ts";
import { isOwnToolName, type OwnToolName, ownToolNames } from "./own-tools.ts";
import { createInputSchema, createOutputSchema } from "./schema.ts";

/** All tools: the operations, then the others. */
export type ToolName = CallName | OwnToolName;

export const annotations: Readonly<Record<Effect, ToolAnnotations>> = {
  read: { readOnlyHint: true, openWorldHint: false },
  create: { readOnlyHint: false, destructiveHint: false, idempotentHint: false, openWorldHint: false },
  update: { readOnlyHint: false, destructiveHint: true, idempotentHint: true, openWorldHint: false },
  destroy: { readOnlyHint: false, destructiveHint: true, idempotentHint: true, openWorldHint: false },
  send: { readOnlyHint: false, destructiveHint: true, idempotentHint: false, openWorldHint: true },
};

const names: readonly ToolName[] = [...callNames, ...ownToolNames];

/**
 * Every tool as listed, in order. It is evaluated when the program is bundled, like
 * `contract/definition/operation-summaries.ts`.
 */
export const listing = Object.fromEntries(names.map((name) => [name, createTool(name)])) as Readonly<
  Record<ToolName, Tool>
>;

function createTool(name: ToolName): Tool {
  const { effect, ...parts } = isOwnToolName(name) ? listOwnParts(name) : listSchemaParts(name);
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

function listOwnParts(name: OwnToolName) {
  const { summary, details, ...parts } = ownTools[name];
  return { description: `${summary}. ${details}`, ...parts };
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
