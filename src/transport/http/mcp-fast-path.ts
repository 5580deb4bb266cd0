import type { IncomingMessage, ServerResponse } from "node:http";
import { type AuthInfo, isJsonContentType, SUPPORTED_PROTOCOL_VERSIONS } from "@modelcontextprotocol/server";
import { composeJsonText } from "../../lib/json-cache.ts";
import { isObject } from "../../lib/json-value.ts";
import { runAtEndOfTurn } from "../../lib/node/event-loop.ts";
import type { FastPath, FastPathConnection } from "../fast-path/fast-path.ts";
import { statelessRevision } from "../fast-path/plain-request.ts";
import type { Sessions } from "../sessions/sessions.ts";
import type { AdmittedRequest } from "./mcp-admission.ts";

export interface HttpFastPathDeps {
  readonly fastPath: FastPath;
  readonly sessions: Sessions;
}

/** Answers an MCP request over HTTP by the fast path. Resolves to false if the SDK has to answer. */
export type HttpFastPath = (
  request: IncomingMessage,
  response: ServerResponse,
  requestId: string,
  entered: AdmittedRequest,
) => Promise<boolean>;

/** The revision of 2025-era requests without session and revision header (specification of 2025-06-18, transports). */
const assumedRevision = "2025-03-26";

export function createHttpFastPath({ fastPath, sessions }: HttpFastPathDeps): HttpFastPath {
  function describeConnection({ headers }: IncomingMessage, authInfo: AuthInfo): FastPathConnection {
    const sessionId = getSingleHeader(headers["mcp-session-id"]);
    const revision = getSingleHeader(headers["mcp-protocol-version"]);
    const { clientId } = authInfo;
    return {
      id: sessionId === undefined ? undefined : `${clientId} ${sessionId}`,
      authInfo,
      stateless: revision === statelessRevision,
      terms: () =>
        sessionId === undefined
          ? { revision: revision ?? assumedRevision }
          : // The SDK's handler meets the same error and reports it.
            sessions.find(sessionId, clientId).catch(() => undefined),
    };
  }

  return async (request, response, requestId, { message, identity, authInfo }) => {
    // For callers who can get more scopes, the regular path names the missing ones before the call.
    if (!isCandidate(request) || identity.attainable) return false;
    const connection = describeConnection(request, authInfo);
    if (connection.stateless && !matchesHeaders(message, request)) return false;
    const controller = new AbortController();
    response.on("close", () => response.writableEnded || controller.abort());
    const answer = await fastPath.answer(message, connection, controller);
    if (!answer) return false;
    const text = composeJsonText(answer);
    response.writeHead(200, {
      "content-type": "application/json",
      "content-length": Buffer.byteLength(text),
      "x-request-id": requestId,
    });
    // With others that are ready by then, so that a client that reads several wakes up once (docs/decisions/0009-fast-path.md).
    runAtEndOfTurn(() => response.end(text));
    return true;
  };
}

/** Returns whether the headers of a request allow that its message is a plain request or a cancellation. */
function isCandidate({ method, headers }: IncomingMessage): boolean {
  const { accept = "", "mcp-protocol-version": revision, "mcp-session-id": sessionId, "mcp-method": named } = headers;
  return (
    method === "POST" &&
    isJsonContentType(headers["content-type"] ?? null) &&
    accept.includes("application/json") &&
    accept.includes("text/event-stream") &&
    (revision === statelessRevision
      ? sessionId === undefined && (named === "tools/call" || named === "tools/list")
      : revision === undefined || SUPPORTED_PROTOCOL_VERSIONS.includes(String(revision)))
  );
}

/** Returns whether the headers of a request of 2026-07-28 repeat its body (specification, streamable HTTP). */
function matchesHeaders(message: unknown, { headers }: IncomingMessage): boolean {
  if (!isObject(message) || headers["mcp-method"] !== message["method"]) return false;
  if (message["method"] === "tools/list") return true;
  return isObject(message["params"]) && headers["mcp-name"] === message["params"]["name"];
}

function getSingleHeader(header: string | readonly string[] | undefined): string | undefined {
  return typeof header === "string" ? header : undefined;
}
