import type { CallToolResult, Tool } from "@modelcontextprotocol/server";
import * as z from "zod";
import { validationProblem } from "../../contract/errors.ts";
import { getToolset, isOperationName, operations } from "../../contract/index.ts";
import type { Scope } from "../../contract/scopes.ts";
import { findSimilar } from "../../lib/did-you-mean.ts";
import { callTool } from "../call.ts";
import { coerceArguments } from "../coerce-arguments.ts";
import { instrumentCall, type ToolResult } from "../instrumented-call.ts";
import type { ToolContext, ToolSession } from "../session.ts";
import type { ToolSettings } from "../settings.ts";
import { getToolDefinition, isToolName, type ToolDefinition, type ToolName, toolNames } from "./definitions.ts";
import { listOfferedTools, requireOffered } from "./tool-availability.ts";
import { connectionDetails, connectionName, connectionSummary } from "./tool-catalog.ts";

type Args = Readonly<Record<string, unknown>>;

const readOnly = { readOnlyHint: true, openWorldHint: false };
const anything = { readOnlyHint: false, destructiveHint: true, idempotentHint: false, openWorldHint: true };

const shapes = {
  find_tools: { words: z.string().max(500) },
  describe_tool: { name: z.string().max(128) },
  call_tool: { name: z.string().max(128), arguments: z.record(z.string(), z.unknown()).optional() },
};

type SearchToolName = keyof typeof shapes;

const text = { type: "string" } as const;

/** The three tools that stand for all others where a host has little room for a list. */
export const searchTools: readonly (ToolDefinition & { readonly name: SearchToolName })[] = [
  {
    name: "find_tools",
    title: "Find tools",
    description:
      "Find tools by words, as in `advance submission`: their names with a line each. There are tools for programmes, tracks, rounds, submissions, supplements, files, payments, persons, applicants, reviewers, assignments, reviews, feedback, rubrics, e-mail, exports, audit, events, the connection.",
    inputSchema: { type: "object", properties: { words: text }, required: ["words"], additionalProperties: false },
  },
  {
    name: "describe_tool",
    title: "Describe tool",
    description: "Get a tool's description and input schema: do so before the first call of a tool.",
    inputSchema: { type: "object", properties: { name: text }, required: ["name"], additionalProperties: false },
  },
  {
    name: "call_tool",
    title: "Call tool",
    description: "Call a tool by its name, with the arguments of its input schema.",
    inputSchema: {
      type: "object",
      properties: { name: text, arguments: { type: "object" } },
      required: ["name"],
      additionalProperties: false,
    },
  },
];

/** The same as they are listed: what calls others is as harmless as they are. */
export function listSearchTools(settings: ToolSettings, scopes: ReadonlySet<Scope>): Tool[] {
  const harmless = listOfferedTools(settings, scopes).every((name) => operations[name].effect === "read");
  return searchTools.map((tool) => ({
    ...tool,
    annotations: tool.name === "call_tool" && !harmless ? anything : readOnly,
  }));
}

export function isSearchToolName(name: string): name is SearchToolName {
  return Object.hasOwn(shapes, name);
}

/** Answers one of the three: finding and describing say only what the caller can use; calling passes the same gates. */
export function callSearchTool(
  session: ToolSession,
  context: ToolContext,
  name: SearchToolName,
  given: Args,
): Promise<ToolResult> {
  if (name === "call_tool") return callNamed(session, context, given);
  return instrumentCall(session, context, name, async () => {
    const args = checkArguments(name, given);
    if (name === "describe_tool") return { result: describeTool(session, requireTool(args["name"])), code: "ok" };
    const { scopes } = await session.upstream.identify(session.token);
    return {
      result: createSearchResult(
        [...listOfferedTools(session.settings, scopes), connectionName],
        String(args["words"]),
      ),
      code: "ok",
    };
  });
}

/** Calls the tool that is named; of that call alone it is told. */
async function callNamed(session: ToolSession, context: ToolContext, given: Args): Promise<ToolResult> {
  let args: Args;
  let tool: ToolName;
  try {
    args = checkArguments("call_tool", given);
    tool = requireTool(args["name"]);
  } catch (error) {
    return instrumentCall(session, context, "call_tool", () => Promise.reject(error));
  }
  return callTool(session, context, tool, (args["arguments"] ?? {}) as Args);
}

/** @throws Problem `tool_not_offered` */
function describeTool({ settings }: ToolSession, tool: ToolName): CallToolResult {
  if (tool !== connectionName) requireOffered(settings, tool);
  return { content: [{ type: "text", text: JSON.stringify(getToolDefinition(tool)) }] };
}

function checkArguments(name: SearchToolName, given: Args): Args {
  const result = z.strictObject(shapes[name]).safeParse(coerceArguments(shapes[name], given).args);
  if (result.success) return result.data;
  throw validationProblem(
    ...result.error.issues.map(({ path, code, message }) => ({ path: path.join("."), code, message })),
  );
}

function requireTool(given: unknown): ToolName {
  const name = String(given);
  if (isToolName(name)) return name;
  const meant = findSimilar(name, toolNames);
  const message = `There is no such tool${meant ? `: did you mean ${meant}?` : "; find_tools finds one"}`;
  throw validationProblem({ path: "name", code: "unknown_tool", message });
}

/** Names that one search gives. */
export const maxMatches = 12;

function createSearchResult(names: readonly ToolName[], words: string): CallToolResult {
  const wanted = splitWords(words);
  const scored = names.map((name) => ({ name, score: scoreTool(name, wanted) })).filter(({ score }) => score > 0);
  const best = scored.toSorted((a, b) => b.score - a.score).slice(0, maxMatches);
  const lines = best.map(({ name }) => `${name}: ${describeForSearch(name).summary}`);
  const nouns = [...new Set(names.map((name) => describeForSearch(name).noun))].join(", ");
  return {
    content: [{ type: "text", text: lines.join("\n") || `No tool fits; there are tools for ${nouns}.` }],
  };
}

/** Words in a tool's name count most, then its noun and summary, then its description. */
function scoreTool(name: ToolName, wanted: readonly string[]): number {
  const { summary, noun, details } = describeForSearch(name);
  const [inName, nearby, far] = [splitWords(name), splitWords(`${noun} ${summary}`), splitWords(details)];
  const scores = wanted.map((word) =>
    inName.includes(word) ? 4 : nearby.includes(word) ? 2 : far.includes(word) ? 1 : 0,
  );
  return scores.reduce((sum: number, score) => sum + score, 0);
}

function describeForSearch(name: ToolName): {
  readonly summary: string;
  readonly noun: string;
  readonly details: string;
} {
  if (name === connectionName)
    return { summary: connectionSummary, noun: "the connection", details: connectionDetails };
  const { summary, description: details = "" } = operations[name];
  return { summary, noun: isOperationName(name) ? getToolset(name) : "events", details };
}

/** Words in lower case, of one spelling, without the ending of the plural. */
function splitWords(text: string): string[] {
  const words =
    text
      .toLowerCase()
      .replaceAll("programme", "program")
      .match(/[\p{L}\p{N}]+/gu) ?? [];
  return words.slice(0, 50).map((word) => (word.length > 3 ? word.replace(/(?<!s)s$/, "") : word));
}
