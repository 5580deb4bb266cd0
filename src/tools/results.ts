import type { CallToolResult } from "@modelcontextprotocol/server";
import type { Problem } from "../contract/errors.ts";
import type { Answer, Success } from "../upstream/port.ts";

/** An answer as a tool result: structured, with the same as text beside it for hosts that show only that. */
export function resultOf(answer: Answer): CallToolResult {
  if (!answer.ok) return errorResult(answer.problem);
  const structuredContent = structuredOf(answer);
  return { content: [{ type: "text", text: JSON.stringify(structuredContent) }], structuredContent };
}

/**
 * A refusal that the agent can act on: catalogue code, what is wrong, what to do next. Never structured content:
 * clients check that against the schema of success.
 */
export function errorResult(problem: Problem): CallToolResult {
  const { code, message, details, next } = problem;
  const error = { code, message, ...(details ? { details } : {}), next };
  return { isError: true, content: [{ type: "text", text: JSON.stringify({ error }) }] };
}

function structuredOf({ data, page, replayed }: Success): Record<string, unknown> {
  const notes = replayed ? ["This is the answer of an earlier identical call; nothing was applied again."] : [];
  return { data, ...(page ? { page } : {}), ...(notes.length > 0 ? { notes } : {}) };
}
