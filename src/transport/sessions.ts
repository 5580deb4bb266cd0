import { randomUUID } from "node:crypto";
import { type AuthInfo, type Server, WebStandardStreamableHTTPServerTransport } from "@modelcontextprotocol/server";
import type { Clock } from "../lib/clock.ts";
import type { ServerFactory } from "./server.ts";

/** A 2025-era connection over HTTP: it remembers its client, so that the client can be asked and told. */
interface Session {
  readonly transport: WebStandardStreamableHTTPServerTransport;
  readonly server: Server;
  /** Whose it is; another caller's request finds no such session. */
  readonly clientId: string;
  usedAtMs: number;
}

export interface SessionOptions {
  readonly factory: ServerFactory;
  readonly clock: Clock;
  readonly maxBodyBytes: number;
  /** Open at once, of all callers together. */
  readonly maxSessions: number;
}

export interface Sessions {
  /** Open ones. */
  readonly size: number;
  /** The revision that a caller's session of that id agreed on, and marks the session as used; nothing where there is none. */
  revisionOf(sessionId: string, clientId: string): string | undefined;
  /** Answers a request within its session; 404 where the caller has none of that id. */
  handle(request: Request, sessionId: string, authInfo: AuthInfo): Promise<Response>;
  /** Answers an `initialize` request with a new session; nothing where there are too many. */
  open(request: Request, parsedBody: unknown, authInfo: AuthInfo): Promise<Response | undefined>;
  close(): Promise<void>;
}

export const idleMs = 30 * 60_000;
const sweepMs = 60_000;
/** Of one caller; one more closes the one that was idle longest. */
export const maxPerCaller = 20;

/** Sessions of 2025-era clients, bound to their caller's token, capped, and closed when idle. */
export function createSessions({ factory, clock, maxBodyBytes, maxSessions }: SessionOptions): Sessions {
  const sessions = new Map<string, Session>();
  const sweeper = setInterval(() => {
    const oldestMs = clock.now().getTime() - idleMs;
    for (const session of sessions.values()) if (session.usedAtMs < oldestMs) void session.transport.close();
  }, sweepMs);
  sweeper.unref();

  function makeRoom(clientId: string): Promise<void> | undefined {
    const own = [...sessions.values()].filter((session) => session.clientId === clientId);
    if (own.length < maxPerCaller) return undefined;
    return own.reduce((idlest, session) => (session.usedAtMs < idlest.usedAtMs ? session : idlest)).transport.close();
  }

  function use(sessionId: string, clientId: string | undefined): Session | undefined {
    const session = sessions.get(sessionId);
    if (session?.clientId !== clientId) return undefined;
    if (session) session.usedAtMs = clock.now().getTime();
    return session;
  }

  return {
    get size() {
      return sessions.size;
    },

    revisionOf: (sessionId, clientId) => use(sessionId, clientId)?.server.getNegotiatedProtocolVersion(),

    async handle(request, sessionId, authInfo) {
      const session = use(sessionId, authInfo.clientId);
      if (!session) return sessionNotFound();
      return session.transport.handleRequest(request, { authInfo });
    },

    async open(request, parsedBody, authInfo) {
      await makeRoom(authInfo.clientId);
      if (sessions.size >= maxSessions) return undefined;
      const transport = new WebStandardStreamableHTTPServerTransport({
        sessionIdGenerator: randomUUID,
        maxRequestBodySize: maxBodyBytes,
        onsessioninitialized: (sessionId) => {
          sessions.set(sessionId, { transport, server, clientId: authInfo.clientId, usedAtMs: clock.now().getTime() });
        },
      });
      const server = factory({ era: "legacy", authInfo, requestInfo: request });
      server.onclose = () => void (transport.sessionId && sessions.delete(transport.sessionId));
      await server.connect(transport);
      return transport.handleRequest(request, { parsedBody, authInfo });
    },

    async close() {
      clearInterval(sweeper);
      await Promise.all([...sessions.values()].map(({ transport }) => transport.close()));
    },
  };
}

function sessionNotFound(): Response {
  const error = { code: -32_001, message: "Session not found" };
  return Response.json({ jsonrpc: "2.0", id: null, error }, { status: 404 });
}
