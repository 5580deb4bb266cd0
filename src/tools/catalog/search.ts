import type { CallToolResult, Tool } from "@modelcontextprotocol/server";
import * as z from "zod";
import type { Scope } from "../../contract/access/scopes.ts";
import { Problem, validationProblem } from "../../contract/errors.ts";
import { getToolset, operations } from "../../contract/index.ts";
import { findSimilar } from "../../lib/did-you-mean.ts";
import { getIdentity } from "../../upstream/request-caller.ts";
import { explainInvalidArguments } from "../arguments.ts";
import { coerceArguments } from "../coerce-arguments.ts";
import { callTool } from "../dispatch.ts";
import { instrumentCall, type ToolResult } from "../instrumented-call.ts";
import { parseArguments } from "../parse-arguments.ts";
import type { ToolContext, ToolSession } from "../session.ts";
import type { ToolSettings } from "../settings.ts";
import { describeToolDefinition, isToolName, type ToolDefinition, type ToolName, toolNames } from "./definitions.ts";
import { ownTools } from "./own-tool-definitions.ts";
import { isOwnToolName } from "./own-tools.ts";
import { listOfferedTools, listOwnTools, requireOffered } from "./tool-availability.ts";

type Args = Readonly<Record<string, unknown>>;

const readOnly = { readOnlyHint: true, openWorldHint: false };
const destructive = { readOnlyHint: false, destructiveHint: true, idempotentHint: false, openWorldHint: true };

const shapes = {
  find_tools: { words: z.string().max(500) },
  describe_tool: { name: z.string().max(128) },
  call_tool: { name: z.string().max(128), arguments: z.record(z.string(), z.unknown()).optional() },
};

type SearchToolName = keyof typeof shapes;

const text = { type: "string" } as const;

/** Three tools that replace all others for hosts with little room for a list. */
export const searchTools: readonly (ToolDefinition & { readonly name: SearchToolName })[] = [
  {
    name: "find_tools",
    title: "Find tools",
    description:
      "Find tools by words, e.g. `advance submission`. Returns names and summaries. There are tools for programmes, tracks, rounds, submissions, supplements, files, payments, persons, applicants, reviewers, assignments, reviews, feedback, rubrics, e-mail, exports, audit, events, the connection.",
    inputSchema: { type: "object", properties: { words: text }, required: ["words"], additionalProperties: false },
  },
  {
    name: "describe_tool",
    title: "Describe tool",
    description: "Get a tool's description and input schema. Do this before the first call of a tool.",
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

/** Returns the search tools with annotations: `call_tool` is read-only only if all available tools are. */
export function listSearchTools(settings: ToolSettings, scopes: ReadonlySet<Scope>): Tool[] {
  const allReadOnly = listOfferedTools(settings, scopes).every((name) => operations[name].effect === "read");
  return searchTools.map((tool) => ({
    ...tool,
    annotations: tool.name === "call_tool" && !allReadOnly ? destructive : readOnly,
  }));
}

export function isSearchToolName(name: string): name is SearchToolName {
  return Object.hasOwn(shapes, name);
}

/**
 * Answers a call of a search tool. Finding and describing show only what the caller can use; calling uses the same path
 * as a direct call.
 */
export function callSearchTool(
  session: ToolSession,
  context: ToolContext,
  name: SearchToolName,
  rawArgs: Args,
): Promise<ToolResult> {
  if (name === "call_tool") return callNamed(session, context, rawArgs);
  return instrumentCall(session, context, name, async () => {
    const args = checkArguments(name, rawArgs);
    if (name === "describe_tool") return { result: await describeTool(session, requireTool(args["name"])), code: "ok" };
    const { scopes } = await getIdentity(session.upstream, session);
    const offered = listOfferedTools(session.settings, scopes);
    const names = [...offered, ...listOwnTools(session.settings, offered)];
    return { result: createSearchResult(names, String(args["words"])), code: "ok" };
  });
}

/** Calls the named tool. Telemetry records only that call. */
async function callNamed(session: ToolSession, context: ToolContext, rawArgs: Args): Promise<ToolResult> {
  let args: Args;
  let tool: ToolName;
  try {
    args = checkArguments("call_tool", rawArgs);
    tool = requireTool(args["name"]);
  } catch (error) {
    return instrumentCall(session, context, "call_tool", () => Promise.reject(error));
  }
  return callTool(session, context, tool, (args["arguments"] ?? {}) as Args);
}

/** @throws Problem `tool_not_offered` */
async function describeTool({ settings }: ToolSession, tool: ToolName): Promise<CallToolResult> {
  if (!isOwnToolName(tool)) requireOffered(settings, tool);
  return { content: [{ type: "text", text: JSON.stringify(await describeToolDefinition(tool, settings)) }] };
}

/** @throws Problem `validation_failed` */
function checkArguments(name: SearchToolName, rawArgs: Args): Args {
  const shape = shapes[name];
  try {
    return parseArguments(z.strictObject(shape), coerceArguments(shape, rawArgs).args);
  } catch (error) {
    throw error instanceof Problem ? explainInvalidArguments(shape, error) : error;
  }
}

function requireTool(rawArgs: unknown): ToolName {
  const name = String(rawArgs);
  if (isToolName(name)) return name;
  const suggestion = findSimilar(name, toolNames);
  const message = `There is no such tool${suggestion ? `: did you mean ${suggestion}?` : "; find_tools finds one"}`;
  throw validationProblem({ path: "name", code: "unknown_tool", message });
}

/** Most names in one search result. */
export const maxMatches = 12;

function createSearchResult(names: readonly ToolName[], words: string): CallToolResult {
  const searched = splitWords(words);
  const scored = names.map((name) => ({ name, score: scoreTool(name, searched) })).filter(({ score }) => score > 0);
  const best = scored.toSorted((a, b) => b.score - a.score).slice(0, maxMatches);
  const lines = best.map(({ name }) => `${name}: ${describeForSearch(name).summary}`);
  const nouns = [...new Set(names.map((name) => describeForSearch(name).noun))].join(", ");
  return {
    content: [{ type: "text", text: lines.join("\n") || `No tool matches. There are tools for ${nouns}.` }],
  };
}

/** Scores a tool: words in its name count most, then its noun and summary, then its description. */
function scoreTool(name: ToolName, searched: readonly string[]): number {
  const { summary, noun, details } = describeForSearch(name);
  const [inName, nearby, far] = [splitWords(name), splitWords(`${noun} ${summary}`), splitWords(details)];
  const scores = searched.map((word) =>
    inName.includes(word) ? 4 : nearby.includes(word) ? 2 : far.includes(word) ? 1 : 0,
  );
  return scores.reduce((sum: number, score) => sum + score, 0);
}

function describeForSearch(name: ToolName): {
  readonly summary: string;
  readonly noun: string;
  readonly details: string;
} {
  if (isOwnToolName(name)) return ownTools[name];
  const { summary, description: details = "" } = operations[name];
  return { summary, noun: name === "list_events" ? "events" : getToolset(name), details };
}

/** Splits text into lower-case words with one spelling and without plural endings. */
function splitWords(text: string): string[] {
  const words =
    text
      .toLowerCase()
      .replaceAll("programme", "program")
      .match(/[\p{L}\p{N}]+/gu) ?? [];
  return words.slice(0, 50).map((word) => (word.length > 3 ? word.replace(/(?<!s)s$/, "") : word));
}
