import { type Context, Hono } from "hono";
import type { ContentfulStatusCode } from "hono/utils/http-status";
import { type Problem, problem } from "../contract/errors.ts";
import { type OperationName, operationNames, operations } from "../contract/index.ts";
import type { Operation } from "../contract/operation.ts";
import { typedArgument } from "../contract/query.ts";
import type { Answer, Gate } from "../gate/invoke.ts";
import type { Rate } from "../gate/limit.ts";
import type { Log } from "../lib/log.ts";
import { bearerOf, challengeOf } from "./bearer.ts";
import { requestIdOf } from "./request-id.ts";

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
  app.all("/openapi.json", () => refuse(problem("method_not_allowed"), { allow: "GET, HEAD" }));
  for (const [path, names] of pathsOf(operationNames)) {
    const route = path.replace(/\{(\w+)\}/g, ":$1");
    for (const name of names) {
      app.on(operations[name].method, route, async (context) => respond(await answerOf(deps, name, context)));
    }
    const methods = names.map((name) => operations[name].method).sort();
    const allow = methods.map((method) => (method === "GET" ? "GET, HEAD" : method)).join(", ");
    app.all(route, () => refuse(problem("method_not_allowed"), { allow }));
  }
  // Not `notFound`, which Hono asks only of the outermost app.
  app.all("*", () => refuse(problem("not_found", undefined, "There is no such path.")));
  app.onError((error, context) => {
    const requestId = requestIdOf(context);
    deps.log.error({ err: error, requestId }, "The request failed");
    return refuse(problem("internal_error", { requestId }));
  });
  return app;
}

/** The refusal of one request too many at once. */
export function refuseBusy(): Response {
  return refuse(problem("unavailable", { retryAfterSeconds: 1 }));
}

/** Operations by path, paths without variables first: `/persons/resolve` is no person's id. */
function pathsOf(names: readonly OperationName[]): [string, OperationName[]][] {
  const paths = Map.groupBy(names, (name) => operations[name].path);
  return [...paths].sort(([a], [b]) => a.split("{").length - b.split("{").length);
}

async function answerOf({ gate, maxBodyBytes }: RestDeps, name: OperationName, context: Context): Promise<Answer> {
  const operation = operations[name];
  const read = operation.method === "GET" ? { body: undefined } : await bodyOf(context, maxBodyBytes);
  return gate.invoke({
    operation: name,
    token: bearerOf(context.req.header("authorization")),
    parts: { params: context.req.param(), query: queryOf(operation, context), body: read.body },
    unreadable: read.unreadable,
    idempotencyKey: operation.effect === "read" ? undefined : context.req.header("idempotency-key"),
    requestId: requestIdOf(context),
  });
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

interface Read {
  readonly body: unknown;
  /** Why there is none. */
  readonly unreadable?: Problem;
}

const decoder = new TextDecoder("utf-8", { fatal: true });

async function bodyOf(context: Context, maxBytes: number): Promise<Read> {
  const bytes = await bytesOf(context, maxBytes);
  const unreadable = (refusal: Problem) => ({ body: undefined, unreadable: refusal });
  if (bytes === undefined) return unreadable(problem("payload_too_large", { maxBytes }));
  if (bytes.byteLength === 0) return { body: undefined };
  const type = context.req.header("content-type")?.split(";")[0]?.trim().toLowerCase();
  if (type !== "application/json") return unreadable(problem("unsupported_media_type"));
  try {
    return { body: JSON.parse(decoder.decode(bytes)) };
  } catch {
    return unreadable(problem("invalid_json"));
  }
}

/** The body, or nothing where it is too large; of that no more is read than to know. */
async function bytesOf({ req }: Context, maxBytes: number): Promise<ArrayBuffer | Uint8Array | undefined> {
  const declared = req.header("content-length");
  if (declared !== undefined) return Number(declared) > maxBytes ? undefined : req.arrayBuffer();
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of req.raw.body ?? []) {
    size += chunk.byteLength;
    if (size > maxBytes) return undefined;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

function respond(answer: Answer): Response {
  const headers = {
    ...(answer.rate ? rateHeaders(answer.rate) : {}),
    ...(answer.replayed ? { "idempotent-replayed": "true" } : {}),
  };
  if (!answer.ok) return refuse(answer.problem, headers);
  return json(
    { success: true, data: answer.data, ...(answer.page ? { meta: answer.page } : {}) },
    answer.status,
    headers,
  );
}

function refuse(refusal: Problem, headers: Record<string, string> = {}): Response {
  const { code, message, details, status } = refusal;
  const error = { code, message, ...(details ? { details } : {}) };
  const retryAfter = code === "idempotency_in_progress" ? 1 : details?.["retryAfterSeconds"];
  return json({ success: false, error }, status, {
    ...headers,
    ...challengeOf(refusal),
    ...(retryAfter === undefined ? {} : { "retry-after": String(retryAfter) }),
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
