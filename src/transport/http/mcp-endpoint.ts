import type { IncomingMessage, ServerResponse } from "node:http";
import {
  createMcpHandler,
  isInitializeRequest,
  isLegacyRequest,
  type McpHttpHandler,
} from "@modelcontextprotocol/server";
import { Problem, problem } from "../../contract/errors.ts";
import { listScopesToAskFor } from "../auth/step-up.ts";
import { createFastPath, type FastPathDeps } from "../fast-path/fast-path.ts";
import { statelessRevision } from "../fast-path/plain-request.ts";
import { listenMethod } from "../server-info.ts";
import { createListening, type ListenDeps } from "../sessions/listen.ts";
import { createSessions, type SessionOptions } from "../sessions/sessions.ts";
import { type AdmittedRequest, createMcpAdmission, type McpAdmissionDeps, toMcpRefusal } from "./mcp-admission.ts";
import { createHttpFastPath } from "./mcp-fast-path.ts";

export interface McpDeps extends SessionOptions, ListenDeps, FastPathDeps, McpAdmissionDeps {}

export interface McpEndpoint {
  /**
   * Answers a request that the fast path can answer or that is refused. Resolves to false if `fetch` has to answer.
   * @param requestId - the answer's `X-Request-Id`, also in audit entries
   */
  answer(request: IncomingMessage, response: ServerResponse, requestId: string): Promise<boolean>;
  /** @param incoming - the same request, for which `answer` resolved to false */
  fetch(request: Request, incoming: IncomingMessage): Promise<Response>;
  /** Returns the numbers of open sessions and subscription streams. */
  open(): { readonly sessions: number; readonly subscriptions: number };
  /** Answers the calls of sessions that wait for a human: the server stops. */
  answerWaiting(): Promise<void>;
  close(): Promise<void>;
}

/**
 * Creates the endpoint of MCP over streamable HTTP for both protocol revisions. Every request carries its caller's bearer
 * token. Requests of 2026-07-28 are stateless; 2025-era clients that send `initialize` get a session, so that the server
 * can ask them questions.
 */
export function createMcpEndpoint(deps: McpDeps): McpEndpoint {
  const { factory, log, maxBodyBytes, findChallenge, disabledBySetting } = deps;
  const sessions = createSessions(deps);
  const listening = createListening(deps);
  const handler: McpHttpHandler = createMcpHandler(factory, {
    maxRequestBodySize: maxBodyBytes,
    onerror: (error) => log.debug({ err: error }, "An MCP request was refused"),
  });

  const admission = createMcpAdmission(deps);
  const fast = createHttpFastPath({ fastPath: createFastPath(deps), sessions });
  /** Admitted requests that the SDK has to answer. */
  const entered = new WeakMap<IncomingMessage, AdmittedRequest>();

  async function route(request: Request, { message, authInfo }: AdmittedRequest): Promise<Response> {
    const options = { authInfo, ...(message === undefined ? {} : { parsedBody: message }) };
    const sessionId = request.headers.get("mcp-session-id");
    if (sessionId !== null) return sessions.handle(request, sessionId, options);
    // Some clients of earlier revisions send this header too, so it does not identify the era.
    if (request.headers.get("mcp-method") === listenMethod && message !== undefined)
      return listening.open(request, message, authInfo);
    const stateless = request.headers.get("mcp-protocol-version") === statelessRevision;
    // The SDK refuses a request of 2026-07-28 whose body and header name different methods.
    if (!stateless && isInitializeRequest(message) && (await isLegacyRequest(request, message)))
      return sessions.open(request, { parsedBody: message, authInfo });
    return handler.fetch(request, options);
  }

  /**
   * Checks the scopes of callers who can get a token with more of them: their client asks for it. Other callers learn
   * about missing scopes from the tool's answer.
   * @throws Problem `insufficient_scope`
   */
  function requireAttainable({ identity, message }: AdmittedRequest): void {
    const requiredScopes = listScopesToAskFor(message, identity, disabledBySetting);
    if (requiredScopes.length > 0) throw problem("insufficient_scope", { requiredScopes });
  }

  return {
    async answer(request, response, requestId) {
      const one = await admission.enter(request, response, requestId);
      if (!one || (await fast(request, response, requestId, one))) return true;
      entered.set(request, one);
      return false;
    },
    async fetch(request, incoming) {
      const one = entered.get(incoming);
      if (!one) return new Response(null, { status: 404 });
      try {
        requireAttainable(one);
        return await route(request, one);
      } catch (error) {
        if (!(error instanceof Problem)) throw error;
        const { body, ...init } = toMcpRefusal(error, incoming, findChallenge);
        return Response.json(body, init);
      }
    },
    open: () => ({ sessions: sessions.size, subscriptions: listening.size }),
    answerWaiting: () => sessions.answerWaiting(),
    async close() {
      await listening.close();
      await sessions.close();
      await handler.close();
    },
  };
}
