import type { IncomingMessage, ServerResponse } from "node:http";
import { TrieRouter } from "hono/router/trie-router";
import type { Operation } from "../../contract/definition/operation.ts";
import { parseQueryArgument } from "../../contract/definition/query.ts";
import { Problem, problem } from "../../contract/errors.ts";
import { type OperationName, operationNames, operations } from "../../contract/index.ts";
import type { Log } from "../../lib/log.ts";
import type { Answer } from "../../pipeline/call.ts";
import type { OperationPipeline } from "../../pipeline/execute.ts";
import type { Rate } from "../../pipeline/rate-limiter.ts";
import { createChallengeHeader, parseBearer } from "../auth/bearer.ts";
import { createUnknownTokens, type UnknownTokens } from "../auth/unknown-tokens.ts";
import { type BodyReaderOptions, createBodyReader, parseBody, type ReadBody } from "../http/body.ts";
import { writeJson } from "../http/write-json.ts";

export interface RestDeps extends BodyReaderOptions {
  readonly pipeline: OperationPipeline;
  readonly log: Log;
  /** JSON text of the OpenAPI document. */
  readonly openapi: () => string;
}

/** Answers a request whose path begins with {@link restPath}. */
export type RestHandler = (request: IncomingMessage, response: ServerResponse, requestId: string) => Promise<void>;

export const restPath = "/integrations/v1";

type Headers = Readonly<Record<string, string>>;

/** The target of a path: an operation, the methods that the path allows, or the OpenAPI document. */
type Route = { readonly name: OperationName } | { readonly allow: string } | { readonly document: true };

/**
 * Creates the REST interface (specification 4): one route for each operation. Uses Node's own request and response,
 * because a point read takes 1.5 times as long with web requests and responses in between.
 */
export function createRestHandler(given: RestDeps): RestHandler {
  const deps = { ...given, unknownTokens: createUnknownTokens(), readBody: createBodyReader(given) };
  const router = createRouter();

  return async (request, response, requestId) => {
    const send = (status: number, body: string, headers: Headers) =>
      writeJson(response, status, body, { ...headers, "x-request-id": requestId });
    try {
      const { path, search } = splitUrl(request.url ?? "");
      const [handlers, stash] = router.match(request.method === "HEAD" ? "GET" : (request.method ?? ""), path);
      const [route, indices] = handlers[0] ?? [];
      if (route === undefined) return refuse(send, problem("not_found", undefined, "There is no such path."));
      if ("document" in route) return send(200, deps.openapi(), {});
      if ("allow" in route) return refuse(send, problem("method_not_allowed"), { allow: route.allow });
      const params = toParams(indices as Readonly<Record<string, string | number>>, stash);
      sendAnswer(send, await answerRequest(deps, route.name, request, params, search, requestId));
    } catch (error) {
      if (error instanceof Problem) return refuse(send, error);
      deps.log.error({ err: error, requestId }, "The request failed");
      refuse(send, problem("internal_error", { requestId }));
    }
  };
}

/** Answers a request with a problem before it is routed. */
export function refuseRequest(response: ServerResponse, requestId: string, refusal: Problem): void {
  const send: Send = (status, body, headers) =>
    writeJson(response, status, body, { ...headers, "x-request-id": requestId });
  refuse(send, refusal);
}

function createRouter(): TrieRouter<Route> {
  const router = new TrieRouter<Route>();
  router.add("GET", "/openapi.json", { document: true });
  router.add("ALL", "/openapi.json", { allow: "GET, HEAD" });
  for (const [path, names] of groupByPath(operationNames)) {
    const route = path.replace(/\{(\w+)\}/g, ":$1");
    for (const name of names) router.add(operations[name].method, route, { name });
    const methods = names.map((name) => operations[name].method).sort();
    router.add("ALL", route, { allow: methods.map((method) => (method === "GET" ? "GET, HEAD" : method)).join(", ") });
  }
  return router;
}

/** Groups operations by path, paths without variables first, so that `/persons/resolve` is not read as a person's id. */
function groupByPath(names: readonly OperationName[]): [string, OperationName[]][] {
  const paths = Map.groupBy(names, (name) => operations[name].path);
  return [...paths].sort(([a], [b]) => a.split("{").length - b.split("{").length);
}

function splitUrl(url: string): { path: string; search: string } {
  const mark = url.indexOf("?");
  const path = (mark < 0 ? url : url.slice(0, mark)).slice(restPath.length);
  return { path: path === "" ? "/" : path, search: mark < 0 ? "" : url.slice(mark + 1) };
}

function toParams(found: Readonly<Record<string, string | number>>, stash?: readonly string[]): Record<string, string> {
  const params: Record<string, string> = {};
  for (const [name, value] of Object.entries(found)) {
    params[name] = decodeSegment(typeof value === "number" ? (stash?.[value] ?? "") : value);
  }
  return params;
}

function decodeSegment(segment: string): string {
  if (!segment.includes("%")) return segment;
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
}

interface AnswerDeps extends Pick<RestDeps, "pipeline"> {
  readonly unknownTokens: UnknownTokens;
  readonly readBody: ReadBody;
}

async function answerRequest(
  { pipeline, unknownTokens, readBody }: AnswerDeps,
  name: OperationName,
  request: IncomingMessage,
  params: Readonly<Record<string, string>>,
  search: string,
  requestId: string,
): Promise<Answer> {
  const operation = operations[name];
  const { headers } = request;
  const key = headers["idempotency-key"];
  const token = parseBearer(headers.authorization);
  unknownTokens.check(request, token);
  const answer = await pipeline.execute({
    operation: name,
    token,
    parts: { params, query: parseQuery(operation, search), body: undefined },
    readBody:
      operation.method === "GET" ? undefined : async () => parseJsonBody(request, await readBody(token ?? "", request)),
    idempotencyKey: operation.effect === "read" || Array.isArray(key) ? undefined : key,
    requestId,
  });
  if (answer.caller !== undefined) unknownTokens.learn(request, token, true);
  else if (!answer.ok && answer.problem.status === 401) unknownTokens.learn(request, token, false);
  return answer;
}

/** Query strings as the types that the operation declares; a name given twice is a list, which none takes. */
function parseQuery(operation: Operation, search: string): Record<string, unknown> {
  if (search === "") return {};
  const query = new Map<string, unknown>();
  for (const [name, value] of new URLSearchParams(search)) {
    query.set(name, query.has(name) ? [value] : parseQueryArgument(operation, name, value));
  }
  return Object.fromEntries(query);
}

/** @throws Problem for a body that is not JSON, or is larger than any operation accepts */
function parseJsonBody(request: IncomingMessage, bytes: Buffer): unknown {
  if (bytes.byteLength === 0) return undefined;
  const { "content-type": contentType, "content-encoding": encoding = "identity" } = request.headers;
  if (contentType?.split(";")[0]?.trim().toLowerCase() !== "application/json") throw problem("unsupported_media_type");
  if (encoding.toLowerCase() !== "identity")
    throw problem("unsupported_media_type", undefined, "The body must not be compressed.");
  return parseBody(bytes);
}

type Send = (status: number, body: string, headers: Headers) => void;

function sendAnswer(send: Send, answer: Answer): void {
  const headers: Record<string, string> = answer.rate ? createRateHeaders(answer.rate) : {};
  if (answer.replayed) headers["idempotent-replayed"] = "true";
  if (!answer.ok) {
    refuse(send, answer.problem, headers);
    return;
  }
  const { data, page, status } = answer;
  send(status, JSON.stringify(page ? { success: true, data, meta: page } : { success: true, data }), headers);
}

function refuse(send: Send, refusal: Problem, headers: Headers = {}): void {
  const { code, message, details, status } = refusal;
  const error = { code, message, ...(details ? { details } : {}) };
  const retryAfter = code === "idempotency_in_progress" ? 1 : details?.["retryAfterSeconds"];
  send(status, JSON.stringify({ success: false, error }), {
    ...headers,
    ...createChallengeHeader(refusal),
    ...(retryAfter === undefined ? {} : { "retry-after": String(retryAfter) }),
  });
}

/** Returns the rate limit headers of the IETF draft and the older ones (`X-RateLimit-Reset` in epoch seconds). */
function createRateHeaders({ limit, remaining, windowSeconds, retryAfterSeconds }: Rate): Record<string, string> {
  const resetSeconds = retryAfterSeconds ?? windowSeconds;
  return {
    "ratelimit-policy": `"default";q=${limit};w=${windowSeconds}`,
    ratelimit: `"default";r=${remaining};t=${resetSeconds}`,
    "x-ratelimit-limit": String(limit),
    "x-ratelimit-remaining": String(remaining),
    "x-ratelimit-reset": String(Math.ceil(Date.now() / 1000) + resetSeconds),
  };
}
