import { randomUUID } from "node:crypto";
import { fillTemplate, type InputParts, type Operation } from "../../contract/definition/operation.ts";
import { Problem, problem } from "../../contract/errors.ts";
import { hashSha256Hex } from "../../lib/crypto/crypto.ts";
import type { Telemetry } from "../../lib/telemetry.ts";
import { version } from "../../lib/version.ts";
import type { UpstreamCall } from "../port.ts";
import type { HttpClient, HttpRequest } from "./http-client.ts";
import { type ParsedResponse, readAnswer } from "./parse-response.ts";
import type { RateThrottle } from "./rate-throttle.ts";
import type { RetryPolicy } from "./retry-policy.ts";

export interface RequesterDeps {
  readonly baseUrl: string;
  readonly client: HttpClient;
  readonly retryPolicy: RetryPolicy;
  readonly throttle: RateThrottle;
  readonly telemetry: Telemetry;
}

/**
 * Sends an operation to the service with retries, and validates the response.
 * @throws Problem with the request's id
 */
export type Request = (call: UpstreamCall, operation: Operation, parts: InputParts) => Promise<ParsedResponse>;

export function createRequester({ baseUrl, client, retryPolicy, throttle, telemetry }: RequesterDeps): Request {
  const prefix = `${new URL(baseUrl).pathname.replace(/\/$/, "")}/integrations/v1`;

  return async (call, operation, parts) => {
    const { token = "", signal } = call;
    const writes = operation.effect !== "read";
    const path = prefix + buildPath(operation, parts);
    const headers = createHeaders(call, operation, path);
    const body = operation.body ? JSON.stringify(parts.body) : undefined;
    let tries = 0;
    try {
      const read = await retryPolicy.run({
        writes,
        signal,
        turnMs: () => takeTurn(token),
        attempt: (timeoutMs) => {
          tries += 1;
          if (tries > 1) telemetry.note("retry", "retry");
          return attemptRequest(token, operation, { method: operation.method, path, headers, body, signal, timeoutMs });
        },
      });
      // If an earlier attempt of this call succeeded, a replayed answer is the first one that its caller sees.
      return read.replayed && tries > 1 ? { ...read, replayed: false } : read;
    } catch (error) {
      throw error instanceof Problem ? finishProblem(error, call.requestId) : error;
    }
  };

  function takeTurn(token: string): number {
    const waitMs = throttle.take(token);
    if (waitMs > 0) telemetry.note("throttleWait", waitMs);
    return waitMs;
  }

  async function attemptRequest(token: string, operation: Operation, request: HttpRequest): Promise<ParsedResponse> {
    const response = await client.send(request);
    throttle.learn(token, response.headers);
    try {
      return readAnswer(operation, response);
    } catch (error) {
      if (error instanceof Problem) noteRefusal(token, error);
      throw error;
    }
  }

  function noteRefusal(token: string, { code, details }: Problem): void {
    const { retryAfterSeconds } = details ?? {};
    if (typeof retryAfterSeconds !== "number") return;
    if (code === "rate_limited") throttle.recordRefusal(token, retryAfterSeconds);
    if (code === "export_rate_limited") throttle.recordExport(token, retryAfterSeconds);
  }
}

/** Adds when to retry, and the request's id for questions to the operator. */
function finishProblem({ code, details, message }: Problem, requestId: string): Problem {
  if (code.endsWith("rate_limited")) return problem(code, { retryAfterSeconds: 1, ...details }, message);
  if (!code.startsWith("upstream_")) return new Problem(code, details, message);
  const soon = code === "upstream_unavailable" ? { retryAfterSeconds: 1 } : {};
  return problem(code, { ...soon, ...details, requestId }, message);
}

function createHeaders(call: UpstreamCall, operation: Operation, path: string): Record<string, string> {
  const headers: Record<string, string> = {
    authorization: `Bearer ${call.token}`,
    accept: "application/json",
    "user-agent": `programme-mcp/${version}`,
    "x-request-id": call.requestId,
  };
  if (operation.body) headers["content-type"] = "application/json";
  if (operation.effect !== "read") headers["idempotency-key"] = createIdempotencyKey(call, operation, path);
  return headers;
}

/**
 * Returns the idempotency key of a call: one for this call only, so that a retried write is applied once, or the
 * caller's own. The caller's key is bound to the path, because the service compares key and body only (specification
 * 8), and the same body may go to two records.
 */
function createIdempotencyKey({ idempotencyKey }: UpstreamCall, { method }: Operation, path: string): string {
  if (idempotencyKey === undefined) return randomUUID();
  return hashSha256Hex(JSON.stringify([idempotencyKey, method, path]));
}

function buildPath(operation: Operation, parts: InputParts): string {
  const path = fillTemplate(operation.path, (name) => encodeSegment(String(parts.params[name])));
  const given = Object.entries(parts.query).filter(([, value]) => value !== undefined);
  if (given.length === 0) return path;
  const query = new URLSearchParams(given.map(([name, value]): [string, string] => [name, String(value)]));
  return `${path}?${query}`;
}

/** Encodes an id as a path segment. Segments of dots only would change the path, however they are encoded. */
function encodeSegment(id: string): string {
  if (/^\.{1,2}$/.test(id)) throw problem("not_found");
  return encodeURIComponent(id);
}
