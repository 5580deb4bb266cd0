import type { Operation } from "../../contract/definition/operation.ts";
import type { PageMeta } from "../../contract/definition/page.ts";
import { type Problem, problem } from "../../contract/errors.ts";
import { isObject } from "../../lib/json-value.ts";
import { getUpstreamRequestId, toProblemFromResponse } from "./error-mapping.ts";
import type { HttpResponse } from "./http-client.ts";
import { findMismatch, hasFewBrackets, isDeeperThan } from "./response-validation.ts";

/** A response that was validated against the contract. */
export interface ParsedResponse {
  readonly data: unknown;
  readonly page?: PageMeta;
  /** The answer of an earlier request with the same idempotency key. */
  readonly replayed: boolean;
}

/** Deeper responses are refused, because readers recurse level by level. */
const maxDepth = 64;

/**
 * Parses and validates a response. Its shape and the types of its values must match the contract. Unknown fields,
 * states and codes, and a missing `meta`, are accepted.
 * @throws Problem the service's own refusal, or `upstream_invalid_answer`
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
  const isTooDeep = !hasFewBrackets(response.text, maxDepth) && isDeeperThan(data, maxDepth);
  const mismatch = findMismatch(operation.data, data) ?? (isTooDeep ? "data is too deep" : undefined);
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

/**
 * Returns the problem for a redirect. A permanent one means a wrong address; a temporary one may disappear. Neither is
 * followed with the token.
 */
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
