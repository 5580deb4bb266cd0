import type { Tool, ToolAnnotations } from "@modelcontextprotocol/server";
import { type OperationName, operationNames, operations } from "../contract/index.ts";
import type { Effect } from "../contract/operation.ts";
import type { Scope } from "../contract/scopes.ts";
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

/** Every operation as a tool. Made once per process: conversion per request costs more than the request. */
const definitions: ReadonlyMap<OperationName, Definition> = new Map(
  operationNames.map((name) => {
    const { summary, description, effect } = operations[name];
    const textOnly = {
      name,
      description: description ? `${summary}. ${description}` : `${summary}.`,
      inputSchema: inputSchemaOf(name),
      annotations: annotations[effect],
    } as Tool;
    const outputSchema = outputSchemaOf(name) as NonNullable<Tool["outputSchema"]>;
    return [name, { textOnly: Object.freeze(textOnly), withOutput: Object.freeze({ ...textOnly, outputSchema }) }];
  }),
);

/** The tools that a token with these scopes can use under these settings, always in the same order. */
export function toolsFor(settings: ToolSettings, scopes: ReadonlySet<Scope>): Tool[] {
  const form = settings.results === "text" ? "textOnly" : "withOutput";
  return offered(settings, scopes).map((name) => (definitions.get(name) as Definition)[form]);
}

/** A tool's name, description and input schema: what a model is told of it. */
export function definitionOf(name: OperationName): Pick<Tool, "name" | "description" | "inputSchema"> {
  const { description, inputSchema } = (definitions.get(name) as Definition).textOnly;
  return { name, ...(description === undefined ? {} : { description }), inputSchema };
}

export function isToolName(name: string): name is OperationName {
  return definitions.has(name as OperationName);
}
