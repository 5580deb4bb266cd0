import {
  type AuthInfo,
  createMcpHandler,
  isInitializeRequest,
  isLegacyRequest,
  type McpHttpHandler,
  readRequestBody,
} from "@modelcontextprotocol/server";
import { Problem, problem } from "../contract/errors.ts";
import { fingerprintOf } from "../lib/fingerprint.ts";
import { callerKey, requestIdKey } from "../lib/request-id.ts";
import type { Identity } from "../upstream/port.ts";
import { bearerOf, challengeOf, type Signpost } from "./bearer.ts";
import { createFastMcp, type FastMcp } from "./fast-mcp.ts";
import { createLane, type LaneDeps } from "./lane.ts";
import { createListening, type ListenDeps, listenMethod } from "./listen.ts";
import { statelessRevision } from "./plain.ts";
import { createSessions, type SessionOptions } from "./sessions.ts";
import { scopesToAskFor } from "./step-up.ts";

export interface McpDeps extends SessionOptions, ListenDeps, LaneDeps {
  /** Where clients get tokens, if there is an issuer. */
  readonly signpost?: Signpost | undefined;
}

export interface McpEndpoint {
  /** Answers a request if it is plain; see {@link FastMcp}. */
  readonly answer: FastMcp;
  /** @param requestId - what the answer's `X-Request-Id` says, and the audit entries of what was called */
  fetch(request: Request, requestId: string): Promise<Response>;
  /** Sessions and streams of subscriptions that are open. */
  open(): { readonly sessions: number; readonly subscriptions: number };
  close(): Promise<void>;
}

/**
 * MCP over streamable HTTP, both protocol revisions: every request brings its caller's own bearer token. Of 2026-07-28
 * nothing is kept between requests; 2025-era clients that introduce themselves get a session, so that they can be asked.
 */
export function createMcpEndpoint(deps: McpDeps): McpEndpoint {
  const { factory, upstream, log, maxBodyBytes, signpost, withheldBy } = deps;
  const sessions = createSessions(deps);
  const listening = createListening(deps);
  const handler: McpHttpHandler = createMcpHandler(factory, {
    maxRequestBodySize: maxBodyBytes,
    onerror: (error) => log.debug({ err: error }, "An MCP request was refused"),
  });

  const answer = createFastMcp({ lane: createLane(deps), sessions, upstream, maxBodyBytes, authInfoOf });

  async function route(request: Request, authInfo: AuthInfo): Promise<Response> {
    const sessionId = request.headers.get("mcp-session-id");
    if (sessionId !== null) return sessions.handle(request, sessionId, authInfo);
    // Earlier revisions require no header, but some of their clients name the method in one too: it does not tell the era.
    const stateless = request.headers.get("mcp-protocol-version") === statelessRevision;
    const named = request.headers.get("mcp-method");
    // The SDK refuses a request of 2026-07-28 whose body is of another method than its header.
    if (request.method !== "POST" || (stateless && named !== listenMethod)) return handler.fetch(request, { authInfo });
    const { readAgain, parsed } = await read(request);
    if (named === listenMethod && parsed !== undefined) return listening.open(readAgain, parsed, authInfo);
    if (isInitializeRequest(parsed) && (await isLegacyRequest(readAgain, parsed)))
      return sessions.open(readAgain, { parsedBody: parsed, authInfo });
    return handler.fetch(readAgain, { authInfo });
  }

  /** @throws Problem `payload_too_large` */
  async function read(request: Request): Promise<{ readonly readAgain: Request; readonly parsed: unknown }> {
    const body = await readRequestBody(request, maxBodyBytes);
    if (body.tooLarge) throw problem("payload_too_large", { maxBytes: maxBodyBytes });
    const { url, method, headers, signal } = request;
    return {
      readAgain: new Request(url, { method, headers, signal, body: body.text }),
      parsed: parsedOrUndefined(body.text),
    };
  }

  /**
   * The same request, where its caller has the scopes that it needs. Of callers alone that can come back with more:
   * their client asks for these, where others' agents are told what to do.
   * @throws Problem `insufficient_scope`, `payload_too_large`
   */
  async function weighed(request: Request, identity: Identity): Promise<Request> {
    if (!identity.attainable || request.method !== "POST") return request;
    const { readAgain, parsed } = await read(request);
    const requiredScopes = scopesToAskFor(parsed, identity, withheldBy);
    if (requiredScopes.length > 0) throw problem("insufficient_scope", { requiredScopes });
    return readAgain;
  }

  return {
    answer,
    async fetch(request, requestId) {
      const token = bearerOf(request.headers.get("authorization") ?? undefined);
      try {
        const identity = await upstream.identify(token);
        return await route(await weighed(request, identity), authInfoOf(token, identity, requestId));
      } catch (error) {
        if (!(error instanceof Problem)) throw error;
        return refuse(error, signpost);
      }
    },
    open: () => ({ sessions: sessions.size, subscriptions: listening.size }),
    async close() {
      await listening.close();
      await sessions.close();
      await handler.close();
    },
  };
}

function authInfoOf(token: string | undefined, { scopes, caller }: Identity, requestId: string): AuthInfo {
  // The client id only tells callers apart; it must not give away who they are.
  const clientId = fingerprintOf(caller).slice(0, 16);
  return {
    token: token ?? "",
    clientId,
    scopes: [...scopes],
    extra: { [requestIdKey]: requestId, [callerKey]: caller },
  };
}

function parsedOrUndefined(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function refuse(refusal: Problem, signpost: Signpost | undefined): Response {
  const { code, message, next, status, details } = refusal;
  const error = { code: -32_001, message, data: { code, next } };
  const retryAfter = details?.["retryAfterSeconds"];
  const headers = {
    ...challengeOf(refusal, signpost),
    ...(retryAfter === undefined ? {} : { "retry-after": String(retryAfter) }),
  };
  return Response.json({ jsonrpc: "2.0", id: null, error }, { status, headers });
}
