import type { Operation } from "../../contract/definition/operation.ts";
import type { PageMeta } from "../../contract/definition/page.ts";
import { type Problem, problem } from "../../contract/errors.ts";
import { isObject } from "../../lib/is-object.ts";
import { getUpstreamRequestId, toProblemFromResponse } from "./error-mapping.ts";
import type { HttpResponse } from "./http-client.ts";
import { findMismatch, isDeeperThan } from "./response-validation.ts";

/** What an upstream's answer says, once it has been read against the contract. */
export interface ParsedResponse {
  readonly data: unknown;
  readonly page?: PageMeta;
  /** The answer of an earlier request under the same idempotency key. */
  readonly replayed: boolean;
}

/** Deeper answers are no records; what looks into them goes down level by level. */
const maxDepth = 64;

/**
 * Reads an answer without trusting it: its shape and the kinds of its values must be the contract's, while unknown
 * fields, states and codes and missing `meta` are let pass.
 * @throws Problem the upstream's own refusal, or `upstream_invalid_answer`
 */
export function readAnswer(operation: Operation, response: HttpResponse): ParsedResponse {
  const { status, headers } = response;
  if (status >= 400) throw toProblemFromResponse(operation, response, parseBody(response));
  if (status >= 300) throw createRedirectProblem(response);
  const { body, flaw } = parseJson(response);
  if (!body) throw createInvalidAnswerProblem(response, flaw);
  if (body["success"] === false) throw toProblemFromResponse(operation, response, body);
  if (body["success"] !== true) throw createInvalidAnswerProblem(response, "no success envelope");
  const { data } = body;
  const mismatch =
    findMismatch(operation.data, data) ?? (isDeeperThan(data, maxDepth) ? "data is too deep" : undefined);
  if (mismatch) throw createInvalidAnswerProblem(response, mismatch);
  return {
    data,
    ...(operation.paginated ? { page: parsePage(body["meta"]) } : {}),
    replayed: headers["idempotent-replayed"] === "true",
  };
}

function createInvalidAnswerProblem(response: HttpResponse, cause: string): Problem {
  return problem("upstream_invalid_answer", { cause, ...getUpstreamRequestId(response) });
}

/** A redirect for good is a wrong address; any other may be gone the next time. Neither is followed with the token. */
function createRedirectProblem(response: HttpResponse): Problem {
  const { status } = response;
  if (status !== 301 && status !== 308)
    return createInvalidAnswerProblem(response, `a redirect (${status}), which is not followed`);
  const upstreamMessage =
    "it has moved, and the token is not sent elsewhere: PROGRAMME_BASE_URL must name the new place";
  return problem("upstream_refused", { status, upstreamCode: "redirect", upstreamMessage });
}

function parseBody(response: HttpResponse): Readonly<Record<string, unknown>> {
  return parseJson(response).body ?? {};
}

type Parsed =
  | { readonly body: Readonly<Record<string, unknown>>; readonly flaw?: never }
  | { readonly body?: never; readonly flaw: string };

function parseJson({ headers, text }: HttpResponse): Parsed {
  if (text === "") return { flaw: "an empty body" };
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? { body: value } : { flaw: "JSON that is no object" };
  } catch {
    const html = /html/i.test(headers["content-type"] ?? "") || /^\s*</.test(text);
    return { flaw: html ? "an HTML page" : "JSON that is broken or cut off" };
  }
}

function parsePage(meta: unknown): PageMeta {
  const lastEvaluatedKey = isObject(meta) ? meta["lastEvaluatedKey"] : undefined;
  return typeof lastEvaluatedKey === "string" && lastEvaluatedKey !== ""
    ? { hasMore: true, lastEvaluatedKey }
    : { hasMore: false };
}
