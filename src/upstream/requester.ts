import { setTimeout as sleep } from "node:timers/promises";
import { Problem, problem } from "../contract/errors.ts";
import type { Operation, Parts } from "../contract/operation.ts";
import type { Breaker } from "./breaker.ts";
import { type Read, readAnswer } from "./distrust.ts";
import type { HttpClient } from "./http-client.ts";
import type { Pace } from "./pace.ts";
import { patiently } from "./patience.ts";
import type { UpstreamCall } from "./port.ts";

export interface Requesting {
  readonly baseUrl: string;
  readonly client: HttpClient;
  readonly breaker: Breaker;
  readonly pace: Pace;
}

/** Sends an operation to the service, patiently, and reads its answer with distrust. */
export type Request = (call: UpstreamCall, operation: Operation, parts: Parts) => Promise<Read>;

/** How long a call waits for its turn here; longer, and the caller is told when to come again. */
const maxPaceWaitMs = 10_000;

export function createRequester({ baseUrl, client, breaker, pace }: Requesting): Request {
  const prefix = new URL(baseUrl).pathname.replace(/\/$/, "");

  async function turn(token: string, signal: AbortSignal): Promise<void> {
    for (let waitMs = pace.waitMs(token); waitMs > 0; waitMs = pace.waitMs(token)) {
      if (waitMs > maxPaceWaitMs) throw problem("rate_limited", { retryAfterSeconds: Math.ceil(waitMs / 1000) });
      await sleep(waitMs, undefined, { signal });
    }
  }

  return (call, operation, parts) => {
    const { token = "", requestId } = call;
    const sent = {
      method: operation.method,
      path: prefix + pathOf(operation, parts),
      headers: headersOf(call, operation),
      ...(operation.body ? { body: JSON.stringify(parts.body) } : {}),
    };
    return patiently(breaker, call.signal, async (signal) => {
      await turn(token, signal);
      const response = await client.send({ ...sent, signal });
      pace.learn(token, response.headers);
      return readAnswer(operation, response, requestId);
    });
  };
}

function headersOf({ token, idempotencyKey, requestId }: UpstreamCall, operation: Operation): Record<string, string> {
  return {
    authorization: `Bearer ${token}`,
    accept: "application/json",
    ...(operation.body ? { "content-type": "application/json" } : {}),
    // Made for each call, so that a write that is tried again is applied once.
    ...(operation.effect === "read" ? {} : { "idempotency-key": idempotencyKey ?? requestId }),
  };
}

function pathOf(operation: Operation, parts: Parts): string {
  const path = operation.path.replace(/\{(\w+)\}/g, (_, name: string) => segment(String(parts.params[name])));
  const given = Object.entries(parts.query).filter(([, value]) => value !== undefined);
  const query = new URLSearchParams(given.map(([name, value]): [string, string] => [name, String(value)]));
  return `/integrations/v1${path}${query.size > 0 ? `?${query}` : ""}`;
}

/** An id as a path segment; dots alone would climb to another path, however they are encoded. */
function segment(id: string): string {
  if (/^\.{1,2}$/.test(id)) throw problem("not_found");
  return encodeURIComponent(id);
}

/**
 * The persons list takes its cursor by one of two names (specification 2.2); whichever works is remembered.
 *
 * @returns a request that carries the cursor by the name that works
 */
export function withPersonsCursor(request: Request): Request {
  let [works, other] = ["cursor", "lastEvaluatedKey"];
  return async (call, operation, parts) => {
    const { cursor = parts.query["lastEvaluatedKey"], lastEvaluatedKey: _, ...query } = parts.query;
    if (cursor === undefined) return request(call, operation, parts);
    const under = (name = "") => request(call, operation, { ...parts, query: { ...query, [name]: cursor } });
    const first = await under(works).catch((error: unknown) => {
      if (error instanceof Problem && error.status === 400) return undefined;
      throw error;
    });
    // A service that does not know the parameter refuses it, or gives its first page, and the same cursor, again.
    if (first && first.page?.lastEvaluatedKey !== cursor) return first;
    const second = await under(other);
    [works, other] = [other, works];
    return second;
  };
}
