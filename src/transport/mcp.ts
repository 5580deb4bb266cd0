import {
  type AuthInfo,
  createMcpHandler,
  isInitializeRequest,
  type McpHttpHandler,
  readRequestBody,
} from "@modelcontextprotocol/server";
import { Problem, problem } from "../contract/errors.ts";
import { sha256Hex } from "../lib/crypto.ts";
import { requestIdKey } from "../lib/request-id.ts";
import { bearerOf, challengeOf } from "./bearer.ts";
import { createListening, type ListenDeps, listenMethod } from "./listen.ts";
import { createSessions, type SessionOptions } from "./sessions.ts";

export interface McpDeps extends SessionOptions, ListenDeps {}

export interface McpEndpoint {
  /** @param requestId - what the answer's `X-Request-Id` says, and the audit entries of what was called */
  fetch(request: Request, requestId: string): Promise<Response>;
  close(): Promise<void>;
}

/**
 * MCP over streamable HTTP, both protocol revisions: every request brings its caller's own bearer token. Of 2026-07-28
 * nothing is kept between requests; 2025-era clients that introduce themselves get a session, so that they can be asked.
 */
export function createMcpEndpoint(deps: McpDeps): McpEndpoint {
  const { factory, upstream, log, maxBodyBytes } = deps;
  const sessions = createSessions(deps);
  const listening = createListening(deps);
  const handler: McpHttpHandler = createMcpHandler(factory, {
    maxRequestBodySize: maxBodyBytes,
    onerror: (error) => log.debug({ err: error }, "An MCP request was refused"),
  });

  async function route(request: Request, authInfo: AuthInfo): Promise<Response> {
    const sessionId = request.headers.get("mcp-session-id");
    if (sessionId !== null) return sessions.handle(request, sessionId, authInfo);
    // Only clients of 2026-07-28 name the method in a header; what they send is not looked into here, with one exception.
    const named = request.headers.get("mcp-method");
    if (request.method !== "POST" || (named !== null && named !== listenMethod))
      return handler.fetch(request, { authInfo });
    const body = await readRequestBody(request, maxBodyBytes);
    if (body.tooLarge) return refuse(problem("payload_too_large", { maxBytes: maxBodyBytes }));
    const { url, method, headers, signal } = request;
    const readAgain = new Request(url, { method, headers, signal, body: body.text });
    const parsed = parsedOrUndefined(body.text);
    if (named === listenMethod && parsed !== undefined) return listening.open(readAgain, parsed, authInfo);
    const opened = isInitializeRequest(parsed) ? await sessions.open(readAgain, parsed, authInfo) : undefined;
    return opened ?? handler.fetch(readAgain, { authInfo });
  }

  return {
    async fetch(request, requestId) {
      const token = bearerOf(request.headers.get("authorization") ?? undefined);
      try {
        const scopes = [...(await upstream.identify(token)).scopes];
        // The client id only tells callers apart; it must not give the token away.
        const clientId = sha256Hex(token ?? "").slice(0, 16);
        return await route(request, { token: token ?? "", clientId, scopes, extra: { [requestIdKey]: requestId } });
      } catch (error) {
        if (!(error instanceof Problem)) throw error;
        return refuse(error);
      }
    },
    async close() {
      await listening.close();
      await sessions.close();
      await handler.close();
    },
  };
}

function parsedOrUndefined(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function refuse(refusal: Problem): Response {
  const error = { code: -32_001, message: refusal.message, data: { code: refusal.code, next: refusal.next } };
  return Response.json({ jsonrpc: "2.0", id: null, error }, { status: refusal.status, headers: challengeOf(refusal) });
}
