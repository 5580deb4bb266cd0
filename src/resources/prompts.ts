import {
  type ContentBlock,
  type GetPromptRequestParams,
  type GetPromptResult,
  type ListPromptsResult,
  ProtocolError,
  ProtocolErrorCode,
} from "@modelcontextprotocol/server";
import { createResourceLinks } from "../contract/definition/resource.ts";
import { problem } from "../contract/errors.ts";
import { type OperationName, operations } from "../contract/index.ts";
import type { Program, Round } from "../contract/programs.ts";
import type { Scope } from "../contract/scopes.ts";
import { formatPrompt, type PromptDefinition, promptDefinitions } from "./prompt-texts.ts";
import type { Reading } from "./session.ts";

export const maxArgumentChars = 4_000;

export function findPrompt(name: string): PromptDefinition | undefined {
  return promptDefinitions.find((definition) => definition.name === name);
}

/** The prompts all of whose tools the caller can use. */
export async function listPrompts(reading: Reading): Promise<ListPromptsResult> {
  const { scopes } = await reading.identify();
  const usable = promptDefinitions.filter(({ needs }) => needs.every((tool) => canUse(reading, scopes, tool)));
  return {
    prompts: usable.map(({ name, title, description, arguments: args }) => ({
      name,
      title,
      description,
      arguments: args.map((argument) => ({ ...argument })),
    })),
  };
}

/**
 * A prompt's text with the programme and round it is about, and links to them.
 * @throws ProtocolError for an unknown prompt or arguments that name nothing; Problem `insufficient_scope` and refusals
 * of what is read
 */
export async function getPrompt(
  reading: Reading,
  { name, arguments: given = {} }: GetPromptRequestParams,
): Promise<GetPromptResult> {
  const definition = findPrompt(name);
  if (!definition) throw createInvalidParams("Unknown prompt");
  checkArguments(definition, given);
  const { scopes } = await reading.identify();
  refuseUnusable(reading, scopes, definition);
  const can = (tool: OperationName) => canUse(reading, scopes, tool);
  const { programId, roundId } = given;
  const program = programId && can("get_program") ? await read<Program>(reading, "get_program", programId) : undefined;
  const rounds =
    programId && roundId && can("list_rounds") ? await read<Round[]>(reading, "list_rounds", programId) : undefined;
  const round = rounds?.find((candidate) => candidate.roundId === roundId);
  if (rounds && !round) throw createInvalidParams("There is no such roundId in this programme");
  return {
    description: definition.description,
    messages: [
      { role: "user", content: { type: "text", text: formatPrompt(definition, { program, round, given, can }) } },
      ...(program ? createResourceLinks("get_program", program).map(createLinkMessage) : []),
      ...(round ? createResourceLinks("list_rounds", [round]).map(createLinkMessage) : []),
    ],
  };
}

function createLinkMessage({ uri, name }: { uri: string; name: string }): { role: "user"; content: ContentBlock } {
  return { role: "user", content: { type: "resource_link", uri, name, mimeType: "application/json" } };
}

function checkArguments({ arguments: known }: PromptDefinition, given: Readonly<Record<string, string>>): void {
  for (const { name, required } of known) {
    if (required && !given[name]) throw createInvalidParams(`The argument ${name} is required`);
  }
  for (const [name, value] of Object.entries(given)) {
    if (!known.some((argument) => argument.name === name)) throw createInvalidParams("Unknown argument");
    // It becomes part of a line of instructions.
    if (/[\p{C}\p{Zl}\p{Zp}]/u.test(value) || value.length > maxArgumentChars)
      throw createInvalidParams(`${name} is no id`);
  }
}

async function read<Data>({ ask }: Reading, operation: OperationName, programId: string): Promise<Data> {
  const answer = await ask(operation, { programId });
  if (answer.ok) return answer.data as Data;
  const unknown = answer.problem.status === 404 || answer.problem.status === 400;
  throw unknown ? createInvalidParams("There is no such programId") : answer.problem;
}

function canUse({ disabledBySetting }: Reading, scopes: ReadonlySet<Scope>, tool: OperationName): boolean {
  return disabledBySetting(tool) === undefined && scopes.has(operations[tool].scope);
}

/** @throws Problem that says what the job lacks */
function refuseUnusable({ disabledBySetting }: Reading, scopes: ReadonlySet<Scope>, { needs }: PromptDefinition): void {
  for (const tool of needs) {
    const setting = disabledBySetting(tool);
    if (setting !== undefined) throw problem("tool_not_offered", { tool, setting });
  }
  const requiredScopes = [...new Set(needs.map((tool) => operations[tool].scope))].filter(
    (scope) => !scopes.has(scope),
  );
  if (requiredScopes.length > 0) throw problem("insufficient_scope", { requiredScopes });
}

function createInvalidParams(message: string): ProtocolError {
  return new ProtocolError(ProtocolErrorCode.InvalidParams, message);
}
