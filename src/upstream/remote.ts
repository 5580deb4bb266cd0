import { setTimeout as sleep } from "node:timers/promises";
import { Problem, problem } from "../contract/errors.ts";
import { type OperationName, operations } from "../contract/index.ts";
import { type Operation, type Parts, partsOf } from "../contract/operation.ts";
import { isScope, type Scope, sensitiveScope } from "../contract/scopes.ts";
import { tokenPattern } from "../contract/tokens.ts";
import { redactorOf } from "../gate/redact.ts";
import { validate } from "../gate/validate.ts";
import type { Clock } from "../lib/clock.ts";
import { sha256Hex } from "../lib/crypto.ts";
import type { Log } from "../lib/log.ts";
import { createBreaker } from "./breaker.ts";
import { type Read, readAnswer } from "./distrust.ts";
import type { HttpClient } from "./http-client.ts";
import { createPace } from "./pace.ts";
import { patiently } from "./patience.ts";
import type { Answer, Failure, Upstream, UpstreamCall } from "./port.ts";
import { createScopeMemory } from "./scope-memory.ts";

export interface RemoteOptions {
  /** Base address of the product's service, without `/integrations/v1`. */
  readonly baseUrl: string;
  readonly client: HttpClient;
  /** Scopes of the token, where the operator names them. */
  readonly scopes?: readonly Scope[] | undefined;
  readonly requestsPerMinute: number;
  readonly exportIntervalSeconds: number;
  readonly clock: Clock;
  readonly log: Log;
}

/** How long a call waits for its turn here; longer, and the caller is told when to come again. */
const maxPaceWaitMs = 10_000;
const fieldsTtlMs = 10 * 60_000;
const maxFieldSets = 1_000;

/** The product's own service at a base address, answered for each caller with the caller's own token. */
export function createRemoteUpstream(options: RemoteOptions): Pick<Upstream, "call" | "identify"> {
  const { baseUrl, client, clock, log } = options;
  const base = new URL(baseUrl);
  const memory = createScopeMemory(clock, options.scopes);
  const pace = createPace(clock, options.requestsPerMinute, options.exportIntervalSeconds);
  const breaker = createBreaker(clock);
  const standardFields = new Map<string, { readonly ids: ReadonlySet<string>; readonly untilMs: number }>();
  let personsCursor: "cursor" | "lastEvaluatedKey" = "cursor";

  async function identify(token: string | undefined) {
    if (token === undefined || token === "") throw problem("unauthorized");
    if (!tokenPattern.test(token) || memory.isRejected(token)) throw problem("invalid_token");
    return { scopes: memory.scopesOf(token), realm: `${base.origin} ${sha256Hex(token).slice(0, 32)}` };
  }

  async function call(upstreamCall: UpstreamCall): Promise<Answer> {
    const { operation: name, token = "", requestId } = upstreamCall;
    const operation = operations[name];
    try {
      await identify(token);
      const parts = partsOf(operation, upstreamCall.input);
      validate(operation, parts);
      const { data, page } = await fetchData(upstreamCall, name, operation, parts);
      return {
        ok: true,
        status: operation.status ?? 200,
        data: await redacted(operation, data, upstreamCall),
        ...(page ? { page } : {}),
        rate: { ...pace.remaining(token), windowSeconds: 60 },
        replayed: false,
      };
    } catch (error) {
      return refused(error, operation, token, requestId);
    }
  }

  async function fetchData(upstreamCall: UpstreamCall, name: OperationName, operation: Operation, parts: Parts): Promise<Read> {
    if (operation.quota === "export") refuseEarlyExport(upstreamCall.token ?? "");
    const read = await (name === "list_persons" ? listPersons(upstreamCall, operation, parts) : request(upstreamCall, operation, parts));
    if (operation.quota === "export") pace.exportCreated(upstreamCall.token ?? "");
    return read;
  }

  function refuseEarlyExport(token: string): void {
    const retryAfterSeconds = pace.exportWaitSeconds(token);
    if (retryAfterSeconds > 0) throw problem("export_rate_limited", { retryAfterSeconds });
  }

  function request(upstreamCall: UpstreamCall, operation: Operation, parts: Parts): Promise<Read> {
    const { token = "", requestId, signal } = upstreamCall;
    const headers = {
      authorization: `Bearer ${token}`,
      accept: "application/json",
      ...(operation.body ? { "content-type": "application/json" } : {}),
      // Made for each call, so that a write that is tried again is applied once.
      ...(operation.effect === "read" ? {} : { "idempotency-key": upstreamCall.idempotencyKey ?? requestId }),
    };
    const sent = {
      method: operation.method,
      path: base.pathname.replace(/\/$/, "") + pathOf(operation, parts),
      headers,
      ...(operation.body ? { body: JSON.stringify(parts.body) } : {}),
    };
    return patiently(breaker, signal, async (attemptSignal) => {
      await turn(token, attemptSignal);
      const response = await client.send({ ...sent, signal: attemptSignal });
      pace.learn(token, response.headers);
      return readAnswer(operation, response, requestId);
    });
  }

  async function turn(token: string, signal: AbortSignal): Promise<void> {
    for (let waitMs = pace.waitMs(token); waitMs > 0; waitMs = pace.waitMs(token)) {
      if (waitMs > maxPaceWaitMs) throw problem("rate_limited", { retryAfterSeconds: Math.ceil(waitMs / 1000) });
      await sleep(waitMs, undefined, { signal });
    }
  }

  /** The persons list takes its cursor by one of two names (specification 2.2); whichever works is remembered. */
  async function listPersons(upstreamCall: UpstreamCall, operation: Operation, parts: Parts): Promise<Read> {
    const { cursor = parts.query["lastEvaluatedKey"], lastEvaluatedKey: _, ...query } = parts.query;
    if (cursor === undefined) return request(upstreamCall, operation, parts);
    const under = (name: typeof personsCursor) => request(upstreamCall, operation, { ...parts, query: { ...query, [name]: cursor } });
    const other = personsCursor === "cursor" ? "lastEvaluatedKey" : "cursor";
    try {
      const read = await under(personsCursor);
      // A service that does not know the parameter gives its first page, and the same cursor, again.
      if (read.page?.lastEvaluatedKey !== cursor) return read;
    } catch (error) {
      if (!(error instanceof Problem) || error.status !== 400) throw error;
    }
    const read = await under(other);
    personsCursor = other;
    return read;
  }

  async function redacted(operation: Operation, data: unknown, upstreamCall: UpstreamCall): Promise<unknown> {
    const redactor = redactorOf(operation.data);
    if (!redactor) return data;
    const known = memory.scopesOf(upstreamCall.token ?? "");
    const scopes = upstreamCall.strict ? new Set([...known].filter((scope) => scope !== sensitiveScope)) : known;
    const standardFieldIds = scopes.has(sensitiveScope) ? new Set<string>() : await standardFieldsOf(upstreamCall);
    return redactor(data, { scopes, standardFieldIds });
  }

  /** The custom fields that anyone may see; none where the schema cannot be had. */
  async function standardFieldsOf(upstreamCall: UpstreamCall): Promise<ReadonlySet<string>> {
    const key = sha256Hex(upstreamCall.token ?? "");
    const known = standardFields.get(key);
    if (known && known.untilMs > clock.now().getTime()) return known.ids;
    const operation = operations.get_person_schema;
    const read = await request({ ...upstreamCall, operation: "get_person_schema" }, operation, partsOf(operation, {})).catch(() => undefined);
    const { fields = [] } = (read?.data ?? {}) as { fields?: readonly { fieldId: string; sensitivity: string }[] };
    const ids = new Set(fields.filter(({ sensitivity }) => sensitivity === "standard").map(({ fieldId }) => fieldId));
    if (standardFields.size >= maxFieldSets) standardFields.clear();
    standardFields.set(key, { ids, untilMs: clock.now().getTime() + fieldsTtlMs });
    return ids;
  }

  function refused(error: unknown, operation: Operation, token: string, requestId: string): Failure {
    if (!(error instanceof Problem)) {
      log.error({ err: error, requestId }, "The upstream call failed");
      return { ok: false, problem: problem("internal_error", { requestId }) };
    }
    if (error.code === "invalid_token" && tokenPattern.test(token)) memory.rejected(token);
    if (error.code === "insufficient_scope") {
      const named = error.details?.["requiredScopes"];
      const missing = Array.isArray(named) ? named.map(String).filter(isScope) : [operation.scope];
      memory.lacks(token, missing);
    }
    return { ok: false, problem: error };
  }

  return { call, identify };
}

/** An id as a path segment; dots alone would climb to another path, however they are encoded. */
function segment(id: string): string {
  if (/^\.{1,2}$/.test(id)) throw problem("not_found");
  return encodeURIComponent(id);
}

function pathOf(operation: Operation, parts: Parts): string {
  const path = operation.path.replace(/\{(\w+)\}/g, (_, name: string) => segment(String(parts.params[name])));
  const query = new URLSearchParams(
    Object.entries(parts.query).flatMap(([name, value]): [string, string][] => (value === undefined ? [] : [[name, String(value)]])),
  );
  return `/integrations/v1${path}${query.size > 0 ? `?${query}` : ""}`;
}
