import type * as z from "zod";
import { catalogue, type Problem, type ProblemCode, problem } from "../contract/errors.ts";
import { unwrap } from "../contract/marks.ts";
import type { Operation } from "../contract/operation.ts";
import type { PageMeta } from "../contract/page.ts";
import type { HttpResponse } from "./http-client.ts";

/** What an upstream's answer says, once it has been read against the contract. */
export interface Read {
  readonly data: unknown;
  readonly page?: PageMeta;
}

/**
 * Reads an answer without trusting it: shape and kinds of values must be the contract's, while unknown fields, states
 * and codes and missing `meta` are let pass.
 * @throws Problem the upstream's own refusal, or `upstream_invalid_answer`
 */
export function readAnswer(operation: Operation, response: HttpResponse, requestId: string): Read {
  const bad = (cause: string) => problem("upstream_invalid_answer", { requestId: idOf(response) ?? requestId, cause });
  const { status } = response;
  if (status >= 300 && status < 400) throw bad(`a redirect (${status}), which is not followed with the token`);
  const body = parse(response, bad);
  if (status >= 400 || body["success"] === false) throw refusal(operation, response, body, requestId);
  if (body["success"] !== true) throw bad("no success envelope");
  const { data } = body;
  const misfit = misfitOf(operation.data, data, "data");
  if (misfit) throw bad(misfit);
  return { data, ...(operation.paginated ? { page: pageOf(body["meta"]) } : {}) };
}

function parse({ headers, text, status }: HttpResponse, bad: (cause: string) => Problem): Record<string, unknown> {
  if (text === "") {
    if (status >= 400) return {};
    throw bad("an empty body");
  }
  const type = headers["content-type"] ?? "";
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === "object" && value !== null && !Array.isArray(value)) return value as Record<string, unknown>;
  } catch {
    if (status >= 400) return {};
    throw bad(/html/i.test(type) || /^\s*</.test(text) ? "an HTML page" : "JSON that is broken or cut off");
  }
  if (status >= 400) return {};
  throw bad("JSON that is no object");
}

function refusal(
  operation: Operation,
  response: HttpResponse,
  body: Record<string, unknown>,
  requestId: string,
): Problem {
  const { status, headers } = response;
  const error = (typeof body["error"] === "object" && body["error"] !== null ? body["error"] : {}) as Record<
    string,
    unknown
  >;
  const details =
    typeof error["details"] === "object" && error["details"] !== null
      ? (error["details"] as Record<string, unknown>)
      : {};
  const code = String(error["code"] ?? "");
  if (status === 401) return problem("invalid_token");
  if (status === 403 && (code === "" || code === "insufficient_scope" || !isKnown(code))) {
    const named = details["requiredScopes"];
    return problem("insufficient_scope", {
      requiredScopes: Array.isArray(named) ? named.map(String).slice(0, 31) : [operation.scope],
    });
  }
  const retryAfterSeconds = secondsOf(headers["retry-after"]) ?? 1;
  if (status === 429) return problem(code === "export_rate_limited" ? code : "rate_limited", { retryAfterSeconds });
  if (status >= 500)
    return problem("upstream_unavailable", { retryAfterSeconds, status, requestId: idOf(response) ?? requestId });
  if (isKnown(code)) return problem(code, details);
  if (status === 404) return problem("not_found");
  return problem("upstream_refused", {
    status,
    upstreamCode: code.slice(0, 64) || "without a code",
    upstreamMessage: String(error["message"] ?? "").slice(0, 300),
    requestId: idOf(response) ?? requestId,
  });
}

function isKnown(code: string): code is ProblemCode {
  return Object.hasOwn(catalogue, code) && !code.startsWith("upstream_");
}

/** Seconds of a `Retry-After` header, whether it counts or names a time. */
export function secondsOf(retryAfter: string | undefined): number | undefined {
  if (retryAfter === undefined) return undefined;
  if (/^\d{1,6}$/.test(retryAfter)) return Number(retryAfter);
  const atMs = Date.parse(retryAfter);
  return Number.isFinite(atMs) ? Math.max(0, Math.ceil((atMs - Date.now()) / 1000)) : undefined;
}

function idOf({ headers }: HttpResponse): string | undefined {
  return headers["x-request-id"]?.slice(0, 128);
}

function pageOf(meta: unknown): PageMeta {
  const { lastEvaluatedKey } = (typeof meta === "object" && meta !== null ? meta : {}) as {
    lastEvaluatedKey?: unknown;
  };
  return typeof lastEvaluatedKey === "string" && lastEvaluatedKey !== ""
    ? { hasMore: true, lastEvaluatedKey }
    : { hasMore: false };
}

/** Rows of one answer that are looked at: as many as a page may have, and some. */
const maxRows = 10_000;

/** Where a value's kind is not what its schema says; values of enumerations and formats are not looked at. */
function misfitOf(schema: z.core.$ZodType, value: unknown, path: string): string | undefined {
  if (value === undefined || value === null) return path === "data" ? "no data" : undefined;
  const inner = unwrap(schema);
  const definition = inner._zod.def as z.core.$ZodTypeDef & {
    shape?: Record<string, z.core.$ZodType>;
    element?: z.core.$ZodType;
    options?: readonly z.core.$ZodType[];
    valueType?: z.core.$ZodType;
  };
  switch (definition.type) {
    case "object":
      if (!isObject(value)) return `${path} is no object`;
      return firstOf(Object.entries(definition.shape ?? {}), ([name, field]) =>
        misfitOf(field, value[name], `${path}.${name}`),
      );
    case "array":
      if (!Array.isArray(value)) return `${path} is no list`;
      if (value.length > maxRows) return `${path} has more than ${maxRows} items`;
      return firstOf(
        [...value.entries()],
        ([index, item]) => definition.element && misfitOf(definition.element, item, `${path}.${index}`),
      );
    case "record":
      return isObject(value) ? undefined : `${path} is no object`;
    case "union": {
      const options = definition.options ?? [];
      return options.some((option) => !misfitOf(option, value, path)) ? undefined : `${path} is of none of its kinds`;
    }
    case "string":
    case "enum":
      return typeof value === "string" ? undefined : `${path} is no text`;
    case "number":
    case "boolean":
      return typeof value === definition.type ? undefined : `${path} is no ${definition.type}`;
    default:
      return undefined;
  }
}

function firstOf<T>(items: readonly T[], misfit: (item: T) => string | undefined): string | undefined {
  for (const item of items) {
    const found = misfit(item);
    if (found) return found;
  }
  return undefined;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
