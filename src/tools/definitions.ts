import type { Tool, ToolAnnotations } from "@modelcontextprotocol/server";
import { type CallName, callNames, operations } from "../contract/index.ts";
import type { Effect } from "../contract/operation.ts";
import type { Scope } from "../contract/scopes.ts";
import { type ConnectionName, connectionDetails, connectionName, connectionSummary } from "./connection.ts";
import { offered } from "./offer.ts";
import { inputSchemaOf, outputSchemaOf } from "./schema.ts";
import type { ToolSettings } from "./settings.ts";

const annotations: Readonly<Record<Effect, ToolAnnotations>> = {
  read: { readOnlyHint: true, openWorldHint: false },
  create: { readOnlyHint: false, destructiveHint: false, idempotentHint: false, openWorldHint: false },
  update: { readOnlyHint: false, destructiveHint: true, idempotentHint: true, openWorldHint: false },
  destroy: { readOnlyHint: false, destructiveHint: true, idempotentHint: true, openWorldHint: false },
  send: { readOnlyHint: false, destructiveHint: true, idempotentHint: false, openWorldHint: true },
};

interface Definition {
  readonly withOutput: Tool;
  /** For hosts that get text alone: a tool that promises structured content must give it. */
  readonly textOnly: Tool;
}

/** Whatever is listed: what can be called, then what tells of the connection. */
export type ToolName = CallName | ConnectionName;
export const toolNames: readonly ToolName[] = [...callNames, connectionName];

const connection = {
  description: `${connectionSummary}. ${connectionDetails}`,
  effect: "read",
  inputSchema: { type: "object", additionalProperties: false },
  outputSchema: { type: "object", properties: { data: { type: "object" } }, required: ["data"] },
} as const;

/** Made once per process: conversion per request costs more than the request. */
const definitions: ReadonlyMap<ToolName, Definition> = new Map(
  toolNames.map((name) => {
    const { description, effect, inputSchema, outputSchema } = name === connectionName ? connection : partsOf(name);
    const textOnly = { name, description, inputSchema, annotations: annotations[effect] } as Tool;
    const withOutput = { ...textOnly, outputSchema } as Tool;
    return [name, { textOnly: Object.freeze(textOnly), withOutput: Object.freeze(withOutput) }];
  }),
);

function partsOf(name: CallName) {
  const { summary, description, effect } = operations[name];
  return {
    description: description ? `${summary}. ${description}` : `${summary}.`,
    effect,
    inputSchema: inputSchemaOf(name),
    outputSchema: outputSchemaOf(name),
  };
}

/** The tools that a token with these scopes can use under these settings, always in the same order. */
export function toolsFor(settings: ToolSettings, scopes: ReadonlySet<Scope>): Tool[] {
  const form = settings.results === "text" ? "textOnly" : "withOutput";
  const names = [...offered(settings, scopes), connectionName] as const;
  return names.map((name) => (definitions.get(name) as Definition)[form]);
}

/** A tool's name, description and input schema: what a model is told of it. */
export function definitionOf(name: ToolName): Pick<Tool, "name" | "description" | "inputSchema"> {
  const { description, inputSchema } = (definitions.get(name) as Definition).textOnly;
  return { name, ...(description === undefined ? {} : { description }), inputSchema };
}

export function isToolName(name: string): name is ToolName {
  return definitions.has(name as ToolName);
}
