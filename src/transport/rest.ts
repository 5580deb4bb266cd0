import { type Context, Hono } from "hono";
import { bodyLimit } from "hono/body-limit";
import type { ContentfulStatusCode } from "hono/utils/http-status";
import { Problem, problem } from "../contract/errors.ts";
import { type OperationName, operationNames, operations } from "../contract/index.ts";
import type { Operation } from "../contract/operation.ts";
import { typedArgument } from "../contract/query.ts";
import type { Answer, Gate } from "../gate/invoke.ts";
import type { Rate } from "../gate/limit.ts";
import { newId } from "../lib/ids.ts";
import type { Log } from "../lib/log.ts";
import { bearerOf, challengeOf } from "./bearer.ts";

export interface RestDeps {
  readonly gate: Gate;
  readonly log: Log;
  /** Bytes of a request body. */
  readonly maxBodyBytes: number;
  /** JSON text of the OpenAPI document. */
  readonly openapi: string;
}

/** The REST interface below `/integrations/v1` (specification 4): one route per operation, all through the gate. */
export function createRestApp(deps: RestDeps): Hono {
  const app = new Hono();
  app.get("/openapi.json", (context) => context.body(deps.openapi, 200, { "content-type": "application/json" }));
  app.use("*", bodyLimit({ maxSize: deps.maxBodyBytes, onError: () => refuse(tooLarge(deps.maxBodyBytes)) }));
  for (const [path, names] of pathsOf(operationNames)) {
    const route = path.replace(/\{(\w+)\}/g, ":$1");
    for (const name of names) {
      app.on(operations[name].method, route, async (context) => respond(await answerOf(deps, name, context)));
    }
    const allow = names
      .map((name) => operations[name].method)
      .sort()
      .join(", ");
    app.all(route, () => refuse(problem("method_not_allowed"), { allow }));
  }
  app.notFound(() => refuse(problem("not_found", undefined, "There is no such path.")));
  app.onError((error) => {
    const requestId = newId("req");
    deps.log.error({ err: error, requestId }, "The request failed");
    return refuse(problem("internal_error", { requestId }), {}, requestId);
  });
  return app;
}

/** Operations by path, paths without variables first: `/persons/resolve` is no person's id. */
function pathsOf(names: readonly OperationName[]): [string, OperationName[]][] {
  const paths = Map.groupBy(names, (name) => operations[name].path);
  return [...paths].sort(([a], [b]) => a.split("{").length - b.split("{").length);
}

interface Replied {
  readonly answer: Answer;
  readonly requestId: string;
}

async function answerOf({ gate }: RestDeps, name: OperationName, context: Context): Promise<Replied> {
  const operation = operations[name];
  const requestId = newId("req");
  try {
    const answer = await gate.invoke({
      operation: name,
      token: bearerOf(context.req.header("authorization")),
      parts: {
        params: context.req.param(),
        query: queryOf(operation, context),
        body: operation.method === "GET" ? undefined : await bodyOf(context),
      },
      idempotencyKey: operation.effect === "read" ? undefined : context.req.header("idempotency-key"),
      requestId,
    });
    return { answer, requestId };
  } catch (error) {
    if (error instanceof Problem) return { answer: { ok: false, problem: error }, requestId };
    throw error;
  }
}

/** Query strings as the types that the operation declares. */
function queryOf(operation: Operation, context: Context): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(context.req.queries()).map(([name, values]) => {
      const [value = ""] = values;
      return [name, values.length > 1 ? values : typedArgument(operation, name, value)];
    }),
  );
}

const decoder = new TextDecoder("utf-8", { fatal: true });

async function bodyOf(context: Context): Promise<unknown> {
  const bytes = await context.req.arrayBuffer();
  if (bytes.byteLength === 0) return undefined;
  const type = context.req.header("content-type")?.split(";")[0]?.trim().toLowerCase();
  if (type !== "application/json") throw problem("unsupported_media_type");
  try {
    return JSON.parse(decoder.decode(bytes));
  } catch {
    throw problem("invalid_json");
  }
}

function respond({ answer, requestId }: Replied): Response {
  const headers = {
    ...(answer.rate ? rateHeaders(answer.rate) : {}),
    ...(answer.replayed ? { "idempotent-replayed": "true" } : {}),
    "x-request-id": requestId,
  };
  if (!answer.ok) return refuse(answer.problem, headers, requestId);
  return json(
    { success: true, data: answer.data, ...(answer.page ? { meta: answer.page } : {}) },
    answer.status,
    headers,
  );
}

function refuse(refusal: Problem, headers: Record<string, string> = {}, requestId = newId("req")): Response {
  const { code, message, details, status } = refusal;
  const error = { code, message, ...(details ? { details } : {}) };
  const retryAfter = code === "idempotency_in_progress" ? 1 : details?.["retryAfterSeconds"];
  return json({ success: false, error }, status, {
    ...headers,
    ...challengeOf(refusal),
    ...(retryAfter === undefined ? {} : { "retry-after": String(retryAfter) }),
    "x-request-id": requestId,
  });
}

function json(body: unknown, status: number, headers: Record<string, string>): Response {
  return new Response(JSON.stringify(body), {
    status: status as ContentfulStatusCode,
    headers: { "content-type": "application/json", "cache-control": "no-store", ...headers },
  });
}

/** The IETF draft's headers, and the older ones beside them (`X-RateLimit-Reset` in epoch seconds). */
function rateHeaders({ limit, remaining, windowSeconds, retryAfterSeconds }: Rate): Record<string, string> {
  const resetSeconds = retryAfterSeconds ?? windowSeconds;
  return {
    "ratelimit-policy": `"default";q=${limit};w=${windowSeconds}`,
    ratelimit: `"default";r=${remaining};t=${resetSeconds}`,
    "x-ratelimit-limit": String(limit),
    "x-ratelimit-remaining": String(remaining),
    "x-ratelimit-reset": String(Math.ceil(Date.now() / 1000) + resetSeconds),
  };
}

function tooLarge(maxBytes: number): Problem {
  return problem("payload_too_large", { maxBytes });
}
