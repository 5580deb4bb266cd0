import type { CallToolResult } from "@modelcontextprotocol/server";
import { hasPersonalData, untrustedNote } from "../../contract/definition/field-annotations.ts";
import { createResourceLinks } from "../../contract/definition/resource.ts";
import { type Problem, toAgentError } from "../../contract/errors.ts";
import type { CallName } from "../../contract/index.ts";
import type { ToolSettings } from "../settings.ts";
import { getRecordSchema } from "./field-selection.ts";
import type { ToolData } from "./read.ts";
import { formatRecord, formatTable } from "./text.ts";

/**
 * Creates a tool result: a table or a line of JSON for the model, the same as structured content, and for a single
 * record a link to its resource.
 */
export function createResult(
  name: CallName,
  toolData: ToolData,
  form: ToolSettings["results"],
  withLinks: boolean,
): CallToolResult {
  const { data, page } = toolData;
  const isEmpty = Array.isArray(data) && data.length === 0;
  const notes =
    !isEmpty && hasPersonalData(getRecordSchema(name)) ? [...toolData.notes, untrustedNote] : toolData.notes;
  // Notes come before the data that they apply to.
  const structuredContent: Record<string, unknown> = notes.length > 0 ? { notes, data } : { data };
  if (page) structuredContent["page"] = page;
  const result = createResultInForm(form, formatText(toolData, notes), structuredContent);
  const links = Array.isArray(data) || !withLinks ? [] : createResourceLinks(name, toolData.untruncated ?? data);
  for (const link of links) result.content.push({ type: "resource_link", ...link });
  return result;
}

/** The question for a client that cannot ask its human, and the token that confirms the call. */
export interface PendingConfirmation {
  readonly question: string;
  readonly token: string;
  readonly expiresAt: string;
  /** The approval that has to be given first, and the page where a signed-in person gives it. */
  readonly approvalId?: string;
  readonly url?: string;
  /** The tool that asks, for views. */
  readonly tool?: string;
}

const pendingNote =
  "Nothing has been done yet. Show your human the question; if they agree, call again with the same arguments and `confirmation` set to the token.";

function createApprovalNote(url: string, uri: string): string {
  return `Nothing has been done yet. A person has to approve this at ${url} : give your human that link. Then call again with the same arguments and \`confirmation\` set to the token; \`wait: true\` waits for the decision. ${uri} shows whether it is made.`;
}

/**
 * Creates the result that contains a question. It is not an error, because clients throw on errors and lose the token.
 */
export function createQuestionResult(form: ToolSettings["results"], confirmation: PendingConfirmation): CallToolResult {
  const { question, token, expiresAt, url, approvalId } = confirmation;
  const note = url === undefined ? pendingNote : createApprovalNote(url, `programme://approvals/${approvalId}`);
  const text = [note, "", question, "", `Token, valid until ${expiresAt}: ${token}`].join("\n");
  return createResultInForm(form, text, { notes: [note], confirmation });
}

/** Creates a result in the configured form. */
export function createResultInForm(
  form: ToolSettings["results"],
  text: string,
  structuredContent: Record<string, unknown>,
): CallToolResult {
  const content: CallToolResult["content"] = [
    { type: "text", text: form === "structured" ? "The result is in structuredContent." : text },
  ];
  return form === "text" ? { content } : { content, structuredContent };
}

export function formatText({ data, page, total }: ToolData, notes: readonly string[]): string {
  const noteLines = notes.map((note) => `Note: ${note}`);
  if (!Array.isArray(data)) return [...noteLines, formatRecord(data as Readonly<Record<string, unknown>>)].join("\n");
  const more = page?.lastEvaluatedKey === undefined ? "" : `; more with lastEvaluatedKey=${page.lastEvaluatedKey}`;
  const shown = total === undefined ? data.length : `${data.length} of ${total}`;
  const count = `${shown} ${data.length === 1 && total === undefined ? "row" : "rows"}${more}`;
  return [count, ...(data.length > 0 ? [...noteLines, formatTable(data)] : noteLines)].join("\n");
}

/**
 * Creates an error result: code, message and what to do next. It has no structured content, because clients validate
 * that against the schema of success.
 */
export function createErrorResult(problem: Problem): CallToolResult {
  return { isError: true, content: [{ type: "text", text: JSON.stringify({ error: toAgentError(problem) }) }] };
}
