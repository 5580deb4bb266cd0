import type { IncomingMessage, ServerResponse } from "node:http";
import { type AuthInfo, isJsonContentType, SUPPORTED_PROTOCOL_VERSIONS } from "@modelcontextprotocol/server";
import type { Identity, Upstream } from "../upstream/port.ts";
import { bearerOf } from "./bearer.ts";
import { bytesOf } from "./body.ts";
import type { Lane } from "./lane.ts";
import { isObject, type PlainRequest, plainRequest, statelessRevision } from "./plain.ts";
import type { Sessions } from "./sessions.ts";

export interface FastMcpDeps {
  readonly lane: Lane;
  readonly sessions: Sessions;
  readonly upstream: Upstream;
  readonly maxBodyBytes: number;
  readonly authInfoOf: (token: string | undefined, identity: Identity, requestId: string) => AuthInfo;
}

/**
 * Answers a plain request straight from Node's own; false where the SDK must, which finds the body that was read here
 * in `rawBody`.
 */
export type FastMcp = (request: IncomingMessage, response: ServerResponse, requestId: string) => Promise<boolean>;

/** How a request's revision is settled: by itself, by its session, or not at all. */
interface Footing {
  /** Nothing where the request says so itself. */
  readonly revision: string | undefined;
  readonly sessionId: string | undefined;
}

/** The revision of 2025-era requests that bring neither a session nor a header (specification of 2025-06-18, transports). */
const assumedRevision = "2025-03-26";

export function createFastMcp({ lane, sessions, upstream, maxBodyBytes, authInfoOf }: FastMcpDeps): FastMcp {
  /** Calls within sessions that are being answered, by session and id. */
  const calls = new Map<string, AbortController>();

  function cancel(message: unknown, sessionId: string | undefined): void {
    if (sessionId === undefined || !isObject(message) || message["method"] !== "notifications/cancelled") return;
    const { params } = message;
    if (isObject(params)) calls.get(callKey(sessionId, params["requestId"]))?.abort();
  }

  async function identify(token: string | undefined): Promise<Identity | undefined> {
    try {
      const identity = await upstream.identify(token);
      // Who can come back with more scopes is told which, before the call.
      return identity.attainable ? undefined : identity;
    } catch {
      return undefined;
    }
  }

  async function answer(plain: PlainRequest, footing: Footing, authInfo: AuthInfo, response: ServerResponse) {
    const { revision, sessionId } = footing;
    const controller = new AbortController();
    const key = sessionId === undefined ? undefined : callKey(sessionId, plain.id);
    if (key !== undefined) calls.set(key, controller);
    const abort = () => controller.abort();
    response.once("close", abort);
    try {
      const text = lane.textOf(await lane.answer(plain, { authInfo, revision, signal: controller.signal }));
      response.writeHead(200, {
        "content-type": "application/json",
        "content-length": Buffer.byteLength(text),
        ...(sessionId === undefined ? {} : { "mcp-session-id": sessionId }),
      });
      response.end(text);
    } finally {
      response.off("close", abort);
      if (key !== undefined) calls.delete(key);
    }
  }

  return async (request, response, requestId) => {
    if (!isPromising(request, maxBodyBytes)) return false;
    const body = await bytesOf(request, maxBodyBytes);
    if (!body) return false;
    Object.assign(request, { rawBody: body });
    const message = parsed(body);
    const { headers } = request;
    const sessionId = single(headers["mcp-session-id"]);
    cancel(message, sessionId);
    const stateless = headers["mcp-protocol-version"] === statelessRevision;
    const plain = plainRequest(message, stateless);
    if (!plain || !lane.takes(plain) || (stateless && !namesItself(plain, request))) return false;
    const token = bearerOf(headers.authorization);
    const identity = await identify(token);
    if (!identity) return false;
    const authInfo = authInfoOf(token, identity, requestId);
    const footing = stateless ? { revision: undefined, sessionId: undefined } : await footingOf(sessionId, authInfo);
    if (!footing) return false;
    await answer(plain, footing, authInfo, response);
    return true;

    async function footingOf(id: string | undefined, { clientId }: AuthInfo): Promise<Footing | undefined> {
      if (id === undefined)
        return { revision: single(headers["mcp-protocol-version"]) ?? assumedRevision, sessionId: id };
      // What went wrong is said on the other road.
      const revision = await sessions.revisionOf(id, clientId).catch(() => undefined);
      return revision === undefined ? undefined : { revision, sessionId: id };
    }
  };
}

function callKey(sessionId: string, requestId: unknown): string {
  return `${sessionId} ${JSON.stringify(requestId)}`;
}

/** Whether the headers alone leave it open that a request is plain. */
function isPromising({ method, headers }: IncomingMessage, maxBodyBytes: number): boolean {
  const { accept = "", "mcp-protocol-version": revision, "mcp-session-id": sessionId, "mcp-method": named } = headers;
  const stateless = revision === statelessRevision;
  return (
    method === "POST" &&
    Number(headers["content-length"] ?? Number.POSITIVE_INFINITY) <= maxBodyBytes &&
    isJsonContentType(headers["content-type"] ?? null) &&
    accept.includes("application/json") &&
    accept.includes("text/event-stream") &&
    (stateless
      ? sessionId === undefined && (named === "tools/call" || named === "tools/list")
      : named === undefined && (revision === undefined || SUPPORTED_PROTOCOL_VERSIONS.includes(String(revision))))
  );
}

/** Whether the headers say of a request of 2026-07-28 what its body says (specification, streamable HTTP). */
function namesItself(plain: PlainRequest, { headers }: IncomingMessage): boolean {
  if (headers["mcp-method"] !== plain.method) return false;
  return plain.method === "tools/list" || headers["mcp-name"] === plain.name;
}

function single(header: string | readonly string[] | undefined): string | undefined {
  return typeof header === "string" ? header : undefined;
}

function parsed(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString("utf8"));
  } catch {
    return undefined;
  }
}
