import { ProtocolError, ProtocolErrorCode, type ReadResourceResult } from "@modelcontextprotocol/server";
import { expandResource } from "../contract/definition/resource.ts";
import { hasUntrustedText, untrustedNote } from "../contract/definition/untrusted-content.ts";
import { type Problem, problem } from "../contract/errors.ts";
import { countRowsThatFit } from "../lib/json-cache.ts";
import type { Answer, Success } from "../upstream/port.ts";
import type { Reading } from "./session.ts";
import { createNotFoundError, parseTarget, type ResourceTarget, shortenUri } from "./target.ts";

/**
 * Reads a resource as the tool of the same name would: same scopes, redaction and handles. The text is JSON:
 * `{notes?, data}`, for lists `{notes?, data, page, next?}` with the URI of the rest, which rows that are too many bytes
 * are part of.
 * @throws ResourceNotFoundError for an unknown, malformed or foreign URI alike; ProtocolError with `code` and `next`
 */
export async function readResource(reading: Reading, uri: string): Promise<ReadResourceResult> {
  const target = parseTarget(uri);
  if (!target) throw createNotFoundError(uri);
  const setting = reading.disabledBySetting(target.name);
  if (setting !== undefined) throw toProtocolError(problem("tool_not_offered", { tool: target.name, setting }), uri);
  const answer = await readFittingPage(reading, target);
  if (!answer.ok) throw toProtocolError(answer.problem, uri);
  return {
    contents: [{ uri, mimeType: "application/json", text: formatText(target, answer) }],
    ...(isFinal(target, answer.data) ? { ttlMs: foreverTtlMs } : {}),
  };
}

function toProtocolError({ status, code, details, remediation, message }: Problem, uri: string): ProtocolError {
  if (status === 404) return createNotFoundError(uri);
  const data = { uri: shortenUri(uri), code, ...(details ? { details } : {}), next: remediation };
  return new ProtocolError(toProtocolCode(status), message, data);
}

function toProtocolCode(status: number): ProtocolErrorCode {
  if (status === 400) return ProtocolErrorCode.InvalidParams;
  return status >= 500 ? ProtocolErrorCode.InternalError : ProtocolErrorCode.InvalidRequest;
}

/** Asks for fewer rows where those of a page are too many bytes: so the cursor is that of where the page ends. */
async function readFittingPage({ ask, resultBytes }: Reading, { name, input }: ResourceTarget): Promise<Answer> {
  const answer = await ask(name, input);
  if (!answer.ok || !answer.page) return answer;
  const rows = answer.data as readonly unknown[];
  const fit = countRowsThatFit(rows, resultBytes);
  return fit === rows.length ? answer : ask(name, { ...input, limit: Math.max(1, fit) });
}

function formatText({ operation, input }: ResourceTarget, { data, page }: Success): string {
  // What is to be known of the data goes before it.
  const marked = hasUntrustedText(operation.data) ? { notes: [untrustedNote], data } : { data };
  const { lastEvaluatedKey } = page ?? {};
  if (lastEvaluatedKey === undefined) return JSON.stringify({ ...marked, page });
  const { cursor: _, ...rest } = input;
  const next = expandResource(operation.resource ?? "", { ...rest, lastEvaluatedKey });
  return JSON.stringify({ ...marked, page, next });
}

/** How long a client may keep what will never be another: entries of the audit trail, published versions. */
const foreverTtlMs = 24 * 60 * 60_000;

function isFinal({ name, input }: ResourceTarget, data: unknown): boolean {
  if (name === "get_audit_entry") return true;
  return input["version"] !== undefined && (data as { published?: boolean }).published === true;
}
