import type { Tool, ToolAnnotations } from "@modelcontextprotocol/server";
import { type OperationName, operationNames, operations } from "../contract/index.ts";
import type { Effect } from "../contract/operation.ts";
import type { Scope } from "../contract/scopes.ts";
import { inputSchemaOf, outputSchemaOf } from "./schema.ts";

const annotations: Readonly<Record<Effect, ToolAnnotations>> = {
  read: { readOnlyHint: true, openWorldHint: false },
  create: { readOnlyHint: false, destructiveHint: false, idempotentHint: false, openWorldHint: false },
  update: { readOnlyHint: false, destructiveHint: true, idempotentHint: true, openWorldHint: false },
  destroy: { readOnlyHint: false, destructiveHint: true, idempotentHint: true, openWorldHint: false },
  send: { readOnlyHint: false, destructiveHint: true, idempotentHint: false, openWorldHint: true },
};

/** Every operation as a tool. Made once per process: conversion per request costs more than the request. */
const definitions: ReadonlyMap<OperationName, Tool> = new Map(
  operationNames.map((name) => {
    const { summary, description, effect } = operations[name];
    const tool = {
      name,
      description: description ? `${summary}. ${description}` : `${summary}.`,
      inputSchema: inputSchemaOf(name),
      outputSchema: outputSchemaOf(name),
      annotations: annotations[effect],
    };
    return [name, Object.freeze(tool) as Tool];
  }),
);

/** The tools that a token with these scopes can use, always in the same order. */
export function toolsFor(scopes: ReadonlySet<Scope>): Tool[] {
  return [...definitions].filter(([name]) => scopes.has(operations[name].scope)).map(([, tool]) => tool);
}

export function isToolName(name: string): name is OperationName {
  return definitions.has(name as OperationName);
}
