import { ProtocolError, ProtocolErrorCode, type ReadResourceResult } from "@modelcontextprotocol/server";
import { hasPersonalData, untrustedNote } from "../contract/definition/field-annotations.ts";
import { expandResource } from "../contract/definition/resource.ts";
import { type Problem, problem, toAgentError } from "../contract/errors.ts";
import { measureRows } from "../lib/json-cache.ts";
import type { Answer, Success } from "../upstream/port.ts";
import { shortenPage } from "../upstream/shorten-page.ts";
import { parseApprovalUri, readApproval } from "./approvals.ts";
import type { ResourceReader } from "./session.ts";
import { isSkillUri, readSkill } from "./skills.ts";
import { createNotFoundError, parseTarget, type ResourceTarget, shortenUri } from "./target.ts";

/**
 * Reads a resource with the scopes, redaction and handles of the tool of the same name. The text is JSON: `{notes?,
 * data}`, for lists `{notes?, data, page, next?}` with the URI of the next page. A page is shortened if its rows exceed
 * the limit of bytes.
 * @throws ResourceNotFoundError for unknown and malformed URIs and for records of other tenants; ProtocolError with
 * `code` and `next`
 */
export async function readResource(reader: ResourceReader, uri: string): Promise<ReadResourceResult> {
  const approvalId = parseApprovalUri(uri);
  if (approvalId !== undefined) return readApproval(reader, uri, approvalId);
  if (isSkillUri(uri)) return readSkill(reader, uri);
  const target = parseTarget(uri);
  if (!target) throw createNotFoundError(uri);
  const setting = reader.disabledBySetting(target.name);
  if (setting !== undefined) throw toProtocolError(problem("tool_not_offered", { tool: target.name, setting }), uri);
  const answer = await readFittingPage(reader, target);
  if (!answer.ok) throw toProtocolError(answer.problem, uri);
  return {
    contents: [{ uri, mimeType: "application/json", text: formatText(target, answer) }],
    ...(isFinal(target, answer.data) ? { ttlMs: foreverTtlMs } : {}),
  };
}

function toProtocolError(refusal: Problem, uri: string): ProtocolError {
  const { status } = refusal;
  if (status === 404) return createNotFoundError(uri);
  const { message, ...error } = toAgentError(refusal);
  return new ProtocolError(toProtocolCode(status), message, { uri: shortenUri(uri), ...error });
}

function toProtocolCode(status: number): ProtocolErrorCode {
  if (status === 400) return ProtocolErrorCode.InvalidParams;
  return status >= 500 ? ProtocolErrorCode.InternalError : ProtocolErrorCode.InvalidRequest;
}

/** Returns fewer rows if a page is too large, with the cursor after the last one. */
async function readFittingPage({ ask, resultBytes }: ResourceReader, { name, input }: ResourceTarget): Promise<Answer> {
  const answer = await ask(name, input);
  if (!answer.ok || !answer.page) return answer;
  const rows = answer.data as readonly unknown[];
  const fit = measureRows(rows, resultBytes).count;
  if (fit === rows.length) return answer;
  const limit = Math.max(1, fit);
  return shortenPage(answer, limit, () => ask(name, { ...input, limit }));
}

function formatText({ operation, input }: ResourceTarget, { data, page }: Success): string {
  // Notes come before the data that they apply to.
  const annotated = hasPersonalData(operation.data) ? { notes: [untrustedNote], data } : { data };
  const { lastEvaluatedKey } = page ?? {};
  if (lastEvaluatedKey === undefined) return JSON.stringify({ ...annotated, page });
  const { cursor: _, ...rest } = input;
  const next = expandResource(operation.resource ?? "", { ...rest, lastEvaluatedKey });
  return JSON.stringify({ ...annotated, page, next });
}

/** The time for which a client may cache audit entries and published versions, which never change. */
const foreverTtlMs = 24 * 60 * 60_000;

function isFinal({ name, input }: ResourceTarget, data: unknown): boolean {
  if (name === "get_audit_entry") return true;
  return input["version"] !== undefined && (data as { published?: boolean }).published === true;
}
