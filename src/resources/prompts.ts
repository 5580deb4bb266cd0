import {
  type ContentBlock,
  type GetPromptRequestParams,
  type GetPromptResult,
  type ListPromptsResult,
  ProtocolError,
  ProtocolErrorCode,
} from "@modelcontextprotocol/server";
import type { Scope } from "../contract/access/scopes.ts";
import { createResourceLinks } from "../contract/definition/resource.ts";
import { problem } from "../contract/errors.ts";
import { type CallName, type OperationName, operations } from "../contract/index.ts";
import type { Program, Round } from "../contract/programs.ts";
import { icons } from "./icons.ts";
import { formatPrompt, type PromptDefinition, promptDefinitions } from "./prompt-texts.ts";
import type { ResourceReader } from "./session.ts";

export const maxArgumentChars = 4_000;

export function findPrompt(name: string): PromptDefinition | undefined {
  return promptDefinitions.find((definition) => definition.name === name);
}

/** Lists the prompts whose required tools the caller can use. */
export async function listPrompts(reader: ResourceReader): Promise<ListPromptsResult> {
  const { scopes } = await reader.identify();
  const usable = promptDefinitions.filter((definition) => canUsePrompt(reader, scopes, definition));
  return {
    prompts: usable.map(({ name, title, description, arguments: args }) => ({
      name,
      title,
      description,
      arguments: args.map((argument) => ({ ...argument })),
      icons,
    })),
  };
}

/**
 * Returns a prompt's text with its programme and round, and links to them.
 * @throws ProtocolError for an unknown prompt or invalid arguments; Problem `insufficient_scope` and errors of reads
 */
export async function getPrompt(
  reader: ResourceReader,
  { name, arguments: args = {} }: GetPromptRequestParams,
): Promise<GetPromptResult> {
  const definition = findPrompt(name);
  if (!definition) throw createInvalidParams("Unknown prompt");
  checkArguments(definition, args);
  const { scopes } = await reader.identify();
  requireUsable(reader, scopes, definition);
  const can = (tool: CallName) => canUse(reader, scopes, tool);
  const { programId, roundId } = args;
  const program =
    programId && can("get_program") ? await readRecord<Program>(reader, "get_program", programId) : undefined;
  const rounds =
    programId && roundId && can("list_rounds")
      ? await readRecord<Round[]>(reader, "list_rounds", programId)
      : undefined;
  const round = rounds?.find((candidate) => candidate.roundId === roundId);
  if (rounds && !round) throw createInvalidParams("There is no such roundId in this programme");
  return {
    description: definition.description,
    messages: [
      {
        role: "user",
        content: { type: "text", text: formatPrompt(definition, { program, round, args, canUse: can }) },
      },
      ...(program ? createResourceLinks("get_program", program).map(createLinkMessage) : []),
      ...(round ? createResourceLinks("list_rounds", [round]).map(createLinkMessage) : []),
    ],
  };
}

function createLinkMessage({ uri, name }: { uri: string; name: string }): { role: "user"; content: ContentBlock } {
  return { role: "user", content: { type: "resource_link", uri, name, mimeType: "application/json" } };
}

function checkArguments({ arguments: declared }: PromptDefinition, args: Readonly<Record<string, string>>): void {
  for (const { name, required } of declared) {
    if (required && !args[name]) throw createInvalidParams(`The argument ${name} is required`);
  }
  for (const [name, value] of Object.entries(args)) {
    if (!declared.some((argument) => argument.name === name)) throw createInvalidParams("Unknown argument");
    // The value becomes part of a line of instructions.
    if (/[\p{C}\p{Zl}\p{Zp}]/u.test(value) || value.length > maxArgumentChars)
      throw createInvalidParams(`${name} is not an id`);
  }
}

async function readRecord<Data>({ ask }: ResourceReader, operation: OperationName, programId: string): Promise<Data> {
  const answer = await ask(operation, { programId });
  if (answer.ok) return answer.data as Data;
  const unknown = answer.problem.status === 404 || answer.problem.status === 400;
  throw unknown ? createInvalidParams("There is no such programId") : answer.problem;
}

/** Returns whether the caller can use all tools that a prompt needs. */
export function canUsePrompt(reader: ResourceReader, scopes: ReadonlySet<Scope>, { needs }: PromptDefinition): boolean {
  return needs.every((tool) => canUse(reader, scopes, tool));
}

function canUse({ disabledBySetting }: ResourceReader, scopes: ReadonlySet<Scope>, tool: CallName): boolean {
  return disabledBySetting(tool) === undefined && scopes.has(operations[tool].scope);
}

/**
 * Checks that the caller can use all tools that a prompt needs.
 * @throws Problem `tool_not_offered`, `insufficient_scope`
 */
function requireUsable(
  { disabledBySetting }: ResourceReader,
  scopes: ReadonlySet<Scope>,
  { needs }: PromptDefinition,
): void {
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
