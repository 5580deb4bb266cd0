import type { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from "node:http";
import { type AuthInfo, isJsonContentType, SUPPORTED_PROTOCOL_VERSIONS } from "@modelcontextprotocol/server";
import { isObject } from "../lib/is-object.ts";
import { composedJsonOf } from "../lib/json-text.ts";
import type { Identity, Upstream } from "../upstream/port.ts";
import { bearerOf } from "./bearer.ts";
import { bytesOf } from "./body.ts";
import { endSoon } from "./flush.ts";
import type { Lane } from "./lane.ts";
import { createOpenCalls } from "./open-calls.ts";
import { type PlainRequest, plainRequest, statelessRevision } from "./plain.ts";
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

type Found = Footing | undefined;

/** The revision of 2025-era requests that bring neither a session nor a header (specification of 2025-06-18, transports). */
const assumedRevision = "2025-03-26";

export function createFastMcp({ lane, sessions, upstream, maxBodyBytes, authInfoOf }: FastMcpDeps): FastMcp {
  const calls = createOpenCalls();

  function footingOf({ headers }: IncomingMessage, clientId: string): Found | Promise<Found> {
    const sessionId = single(headers["mcp-session-id"]);
    const named = single(headers["mcp-protocol-version"]);
    if (named === statelessRevision) return { revision: undefined, sessionId };
    if (sessionId === undefined) return { revision: named ?? assumedRevision, sessionId };
    return sessions.find(sessionId, clientId).then(
      (terms) => terms && { revision: terms.revision, sessionId },
      // What went wrong is said on the other road.
      () => undefined,
    );
  }

  async function answer(
    plain: PlainRequest,
    { revision, sessionId }: Footing,
    authInfo: AuthInfo,
    requestId: string,
    to: ServerResponse,
  ) {
    const { signal, abort, end } = calls.begin(sessionId, plain.id);
    to.on("close", abort);
    try {
      const text = composedJsonOf(await lane.answer(plain, { authInfo, revision, signal }));
      const bytes = Buffer.byteLength(text);
      const headers: OutgoingHttpHeaders = {
        "content-type": "application/json",
        "content-length": bytes,
        "x-request-id": requestId,
      };
      if (sessionId !== undefined) headers["mcp-session-id"] = sessionId;
      to.writeHead(200, headers);
      endSoon(to, text, bytes);
    } finally {
      end();
    }
  }

  return async (request, response, requestId) => {
    if (!isPromising(request, maxBodyBytes)) return false;
    const body = await bytesOf(request, maxBodyBytes);
    if (!body) return false;
    const message = parsed(body);
    const plain = plainIn(message, request);
    const cancelled = plain ? undefined : cancelledBy(message);
    if (cancelled === undefined && !(plain && lane.takes(plain))) return left(request, body);
    const token = bearerOf(request.headers.authorization);
    const identity = await upstream.identify(token).catch(() => undefined);
    // Who can come back with more scopes is told which, before the call.
    if (!identity || identity.attainable) return left(request, body);
    const authInfo = authInfoOf(token, identity, requestId);
    const footing = await footingOf(request, authInfo.clientId);
    if (!footing) return left(request, body);
    if (plain) await answer(plain, footing, authInfo, requestId, response);
    else calls.cancel(footing.sessionId, cancelled);
    return plain !== undefined || left(request, body);
  };
}

/** Leaves a request to the SDK, with the body that was read of it. */
function left(request: IncomingMessage, rawBody: Buffer): false {
  Object.assign(request, { rawBody });
  return false;
}

/** The id of the request that a message calls off. */
function cancelledBy(message: unknown): unknown {
  if (!isObject(message) || message["method"] !== "notifications/cancelled") return undefined;
  const { params } = message;
  return isObject(params) ? params["requestId"] : undefined;
}

/** The plain request that a message is, where its headers say so too. */
function plainIn(message: unknown, request: IncomingMessage): PlainRequest | undefined {
  const stateless = request.headers["mcp-protocol-version"] === statelessRevision;
  const plain = plainRequest(message, stateless);
  return plain && stateless && !namesItself(plain, request) ? undefined : plain;
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
      : revision === undefined || SUPPORTED_PROTOCOL_VERSIONS.includes(String(revision)))
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
