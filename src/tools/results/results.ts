import type { CallToolResult } from "@modelcontextprotocol/server";
import { createResourceLinks } from "../../contract/definition/resource.ts";
import { hasUntrustedText, untrustedNote } from "../../contract/definition/untrusted-content.ts";
import type { Problem } from "../../contract/errors.ts";
import type { CallName } from "../../contract/index.ts";
import type { ToolSettings } from "../settings.ts";
import { getRecordSchema } from "./field-selection.ts";
import type { ShownData } from "./read.ts";
import { formatLine, formatTable } from "./text.ts";

/**
 * An answer as a tool result: a table or a line of JSON for the model to read, the same as structured content, and for
 * a single record a link to where it can be read again.
 */
export function createResult(
  name: CallName,
  shown: ShownData,
  form: ToolSettings["results"],
  withLinks: boolean,
): CallToolResult {
  const { data, page } = shown;
  const empty = Array.isArray(data) && data.length === 0;
  const notes = !empty && hasUntrustedText(getRecordSchema(name)) ? [...shown.notes, untrustedNote] : shown.notes;
  // What is to be known of the data goes before it.
  const structuredContent: Record<string, unknown> = notes.length > 0 ? { notes, data } : { data };
  if (page) structuredContent["page"] = page;
  const result = createResultInForm(form, formatText(shown, notes), structuredContent);
  const links = Array.isArray(data) || !withLinks ? [] : createResourceLinks(name, shown.whole ?? data);
  for (const link of links) result.content.push({ type: "resource_link", ...link });
  return result;
}

/** What a caller that cannot be asked back shows its human, and the token that carries the human's yes. */
export interface PendingConfirmation {
  readonly question: string;
  readonly token: string;
  readonly expiresAt: string;
}

const pendingNote =
  "Nothing has been done yet. Show your human the question; if they agree, call again with the same arguments and `confirmation` set to the token.";

/** A question as a tool result. It is not an error: clients throw on errors, and lose the token with them. */
export function createQuestionResult(form: ToolSettings["results"], confirmation: PendingConfirmation): CallToolResult {
  const { question, token, expiresAt } = confirmation;
  const text = [pendingNote, "", question, "", `Token, good until ${expiresAt}: ${token}`].join("\n");
  return createResultInForm(form, text, { notes: [pendingNote], confirmation });
}

/** A result in the form that this installation's hosts take. */
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

function formatText({ data, page }: ShownData, notes: readonly string[]): string {
  const told = notes.map((note) => `Note: ${note}`);
  if (!Array.isArray(data)) return told.map((line) => `${line}\n`).join("") + formatLine(data);
  const more = page?.lastEvaluatedKey === undefined ? "" : `; more with lastEvaluatedKey=${page.lastEvaluatedKey}`;
  const count = `${data.length} ${data.length === 1 ? "row" : "rows"}${more}`;
  return [count, ...(data.length > 0 ? [...told, formatTable(data)] : told)].join("\n");
}

/**
 * A refusal that the agent can act on: catalogue code, what is wrong, what to do next. Never structured content:
 * clients check that against the schema of success.
 */
export function createErrorResult(problem: Problem): CallToolResult {
  const { code, message, details, remediation } = problem;
  const error = { code, message, ...(details ? { details } : {}), next: remediation };
  return { isError: true, content: [{ type: "text", text: JSON.stringify({ error }) }] };
}
