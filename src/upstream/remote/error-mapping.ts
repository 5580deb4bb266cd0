import { scopes, sensitiveScope } from "../../contract/access/scopes.ts";
import type { Operation } from "../../contract/definition/operation.ts";
import { errorCatalog, type Problem, type ProblemCode, problem } from "../../contract/errors.ts";
import { isObject } from "../../lib/json-value.ts";
import type { HttpResponse } from "./http-client.ts";

/** The usable parts of an error response. */
interface ReportedError {
  /** In lower case with underscores; empty if there is none. */
  readonly code: string;
  readonly message: string;
  readonly details: Readonly<Record<string, unknown>>;
  readonly retryAfterSeconds: number | undefined;
}

/** Translates an error response of the service (specification 7) to a problem of the catalogue. */
export function toProblemFromResponse(
  operation: Operation,
  response: HttpResponse,
  body: Readonly<Record<string, unknown>>,
): Problem {
  const { status } = response;
  const reported = readReportedError(response, body);
  const { code, details, retryAfterSeconds } = reported;
  const upstreamId = getUpstreamRequestId(response);
  if (status === 401) return problem("invalid_token");
  if (status === 403 || code === "insufficient_scope") return mapForbidden(operation, response, reported);
  const retryDetails = retryAfterSeconds === undefined ? {} : { retryAfterSeconds };
  if (status === 429 || code === "rate_limited") return problem(chooseRateCode(operation, reported), retryDetails);
  if ([502, 503, 504].includes(status)) {
    return problem("upstream_unavailable", { ...retryDetails, cause: `status ${status}`, ...upstreamId });
  }
  if (status >= 500) return problem("upstream_failed", { cause: `status ${status} ${code}`.trim(), ...upstreamId });
  if (isRefusal(code)) return problem(code, details);
  if (status < 400) {
    const cause = `success and failure at once (status ${status}, ${code || "no code"})`;
    return problem("upstream_invalid_answer", { cause, ...upstreamId });
  }
  if (status === 404 && isObject(body["error"])) return problem("not_found");
  return mapRefusal(response, reported);
}

/** Returns the service's id of the request, by which its operator can find it. */
export function getUpstreamRequestId({ headers }: HttpResponse): { readonly upstreamRequestId?: string } {
  const id = headers["x-request-id"];
  return id !== undefined && /^[\w.:-]{1,128}$/.test(id) ? { upstreamRequestId: id } : {};
}

function mapRefusal(response: HttpResponse, { code, message }: ReportedError): Problem {
  const { status } = response;
  const address = status === 404 && message === "" ? "there may be no such service at PROGRAMME_BASE_URL" : "";
  return problem("upstream_refused", {
    status,
    upstreamCode: code || "without a code",
    upstreamMessage: message || address || "without a word",
    ...getUpstreamRequestId(response),
  });
}

function readReportedError({ headers }: HttpResponse, { error }: Readonly<Record<string, unknown>>): ReportedError {
  const { code, message, details } = isObject(error) ? error : {};
  const shown = isObject(details) ? limitDetails(details) : {};
  const inDetails = shown["retryAfterSeconds"];
  return {
    code: typeof code === "string" ? code.slice(0, 64).toLowerCase().replaceAll("-", "_") : "",
    message: typeof message === "string" ? message.slice(0, 300) : "",
    details: shown,
    retryAfterSeconds:
      parseRetryAfter(headers) ?? (typeof inDetails === "number" && inDetails >= 0 ? inDetails : undefined),
  };
}

/** Maps a 403. Only a response about scopes becomes `insufficient_scope`; a gateway's or policy's refusal does not. */
function mapForbidden(operation: Operation, response: HttpResponse, reported: ReportedError): Problem {
  const requiredScopes = readRequiredScopes(operation, response, reported);
  return requiredScopes.length > 0 ? problem("insufficient_scope", { requiredScopes }) : mapRefusal(response, reported);
}

function readRequiredScopes(
  operation: Operation,
  { headers }: HttpResponse,
  reported: ReportedError,
): readonly string[] {
  const { code, message, details } = reported;
  const named = [
    details["requiredScopes"],
    details["requiredScope"],
    details["missingScopes"],
    details["scope"],
  ].flat();
  const challenged = /\bscope="([^"]{1,1000})"/.exec(headers["www-authenticate"] ?? "")?.[1];
  const structured = [...named, challenged].flatMap((text) => (typeof text === "string" ? text.split(/[\s,]+/) : []));
  if (structured.length > 0) return [...new Set(structured)].filter((name) => name !== "").slice(0, scopes.length);
  // The message may also list the scopes that the token has. Only scopes that this operation needs are taken from it.
  const words = `${code} ${message}`;
  if (words.includes(operation.scope)) return [operation.scope];
  const besides = ["persons:read", sensitiveScope].filter((scope) => words.includes(scope));
  return besides.length > 0 || !/scope/i.test(words) ? besides : [operation.scope];
}

/** Returns the export quota's code if an export is refused for minutes. */
function chooseRateCode({ quota }: Operation, { code, retryAfterSeconds = 0 }: ReportedError): ProblemCode {
  return code === "export_rate_limited" || (quota && retryAfterSeconds > 60) ? "export_rate_limited" : "rate_limited";
}

/**
 * Returns whether a service may refuse with this code. Other codes concern only this program, or follow from the
 * status.
 */
function isRefusal(code: string): code is ProblemCode {
  if (!Object.hasOwn(errorCatalog, code) || /^(invalid_handle|confirmation_|tool_|upstream_)/.test(code)) return false;
  const { status } = errorCatalog[code as ProblemCode];
  return status < 500 && status !== 401 && status !== 403 && status !== 429;
}

const maxDetails = 20;
const maxDetailChars = 2_000;
const maxIssues = 50;

/** Limits the size of details, and normalises their issues. */
function limitDetails(details: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const entries = Object.entries(details).map(([name, value]) => [name, name === "issues" ? readIssues(value) : value]);
  const small = entries.filter(
    ([name, value]) => name === "issues" || (JSON.stringify(value) ?? "").length <= maxDetailChars,
  );
  return Object.fromEntries(small.slice(0, maxDetails));
}

function readIssues(issues: unknown) {
  return (Array.isArray(issues) ? issues : []).slice(0, maxIssues).map((issue) => {
    const { path, code, message } = isObject(issue) ? issue : {};
    return { path: shortenText(path), code: shortenText(code), message: shortenText(message) };
  });
}

function shortenText(value: unknown): string {
  return typeof value === "string" ? value.slice(0, 300) : "";
}

const httpDate = /^[A-Z][a-z]{2}, \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT$/;

/** Parses the seconds of a `Retry-After` header. A time is compared with the service's own clock. */
function parseRetryAfter({ "retry-after": retryAfter, date }: HttpResponse["headers"]): number | undefined {
  if (retryAfter === undefined) return undefined;
  if (/^\d{1,6}$/.test(retryAfter)) return Number(retryAfter);
  if (!httpDate.test(retryAfter)) return undefined;
  const nowMs = date !== undefined && httpDate.test(date) ? Date.parse(date) : Date.now();
  return Math.max(0, Math.ceil((Date.parse(retryAfter) - nowMs) / 1000));
}
