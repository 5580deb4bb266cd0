import type { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from "node:http";
import { type AuthInfo, isJsonContentType, SUPPORTED_PROTOCOL_VERSIONS } from "@modelcontextprotocol/server";
import { isObject } from "../../lib/is-object.ts";
import { composeJsonText } from "../../lib/json-cache.ts";
import { createInFlightRequests } from "../http/in-flight-requests.ts";
import type { EnteredRequest } from "../http/mcp-admission.ts";
import type { Sessions } from "../sessions/sessions.ts";
import type { FastPath } from "./fast-path.ts";
import { endInBatch } from "./flush.ts";
import { type PlainRequest, statelessRevision, toPlainRequest } from "./plain-request.ts";

export interface HttpFastPathDeps {
  readonly fastPath: FastPath;
  readonly sessions: Sessions;
}

/** Answers a plain request straight from Node's own; false where the SDK must. */
export type HttpFastPath = (
  request: IncomingMessage,
  response: ServerResponse,
  requestId: string,
  entered: EnteredRequest,
) => Promise<boolean>;

/** How a request's revision is settled: by itself, by its session, or not at all. */
interface ProtocolContext {
  /** Nothing where the request says so itself. */
  readonly revision: string | undefined;
  readonly sessionId: string | undefined;
}

type Found = ProtocolContext | undefined;

/** The revision of 2025-era requests that bring neither a session nor a header (specification of 2025-06-18, transports). */
const assumedRevision = "2025-03-26";

export function createHttpFastPath({ fastPath, sessions }: HttpFastPathDeps): HttpFastPath {
  const calls = createInFlightRequests();

  function resolveProtocolContext({ headers }: IncomingMessage, clientId: string): Found | Promise<Found> {
    const sessionId = getSingleHeader(headers["mcp-session-id"]);
    const named = getSingleHeader(headers["mcp-protocol-version"]);
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
    { revision, sessionId }: ProtocolContext,
    authInfo: AuthInfo,
    requestId: string,
    to: ServerResponse,
  ) {
    const { signal, abort, end } = calls.begin(sessionId, plain.id);
    to.on("close", abort);
    try {
      const text = composeJsonText(await fastPath.answer(plain, { authInfo, revision, signal }));
      const bytes = Buffer.byteLength(text);
      const headers: OutgoingHttpHeaders = {
        "content-type": "application/json",
        "content-length": bytes,
        "x-request-id": requestId,
      };
      if (sessionId !== undefined) headers["mcp-session-id"] = sessionId;
      to.writeHead(200, headers);
      endInBatch(to, text, bytes);
    } finally {
      end();
    }
  }

  return async (request, response, requestId, { message, identity, authInfo }) => {
    if (!isPromising(request)) return false;
    const plain = parsePlainRequest(message, request);
    const cancelled = plain ? undefined : getCancelledId(message);
    if (cancelled === undefined && !(plain && fastPath.takes(plain))) return false;
    // Who can come back with more scopes is told which, before the call.
    if (identity.attainable) return false;
    const protocolContext = await resolveProtocolContext(request, authInfo.clientId);
    if (!protocolContext) return false;
    if (plain) await answer(plain, protocolContext, authInfo, requestId, response);
    else calls.cancel(protocolContext.sessionId, cancelled);
    return plain !== undefined;
  };
}

/** The id of the request that a message calls off. */
function getCancelledId(message: unknown): unknown {
  if (!isObject(message) || message["method"] !== "notifications/cancelled") return undefined;
  const { params } = message;
  return isObject(params) ? params["requestId"] : undefined;
}

/** The plain request that a message is, where its headers say so too. */
function parsePlainRequest(message: unknown, request: IncomingMessage): PlainRequest | undefined {
  const stateless = request.headers["mcp-protocol-version"] === statelessRevision;
  const plain = toPlainRequest(message, stateless);
  return plain && stateless && !matchesHeaders(plain, request) ? undefined : plain;
}

/** Whether the headers alone leave it open that a request is plain. */
function isPromising({ method, headers }: IncomingMessage): boolean {
  const { accept = "", "mcp-protocol-version": revision, "mcp-session-id": sessionId, "mcp-method": named } = headers;
  const stateless = revision === statelessRevision;
  return (
    method === "POST" &&
    isJsonContentType(headers["content-type"] ?? null) &&
    accept.includes("application/json") &&
    accept.includes("text/event-stream") &&
    (stateless
      ? sessionId === undefined && (named === "tools/call" || named === "tools/list")
      : revision === undefined || SUPPORTED_PROTOCOL_VERSIONS.includes(String(revision)))
  );
}

/** Whether the headers say of a request of 2026-07-28 what its body says (specification, streamable HTTP). */
function matchesHeaders(plain: PlainRequest, { headers }: IncomingMessage): boolean {
  if (headers["mcp-method"] !== plain.method) return false;
  return plain.method === "tools/list" || headers["mcp-name"] === plain.name;
}

function getSingleHeader(header: string | readonly string[] | undefined): string | undefined {
  return typeof header === "string" ? header : undefined;
}
