import { type AuthInfo, type Server, WebStandardStreamableHTTPServerTransport } from "@modelcontextprotocol/server";
import { type Problem, problem, withRemediation } from "../../contract/errors.ts";
import type { Clock } from "../../lib/clock.ts";
import { getRequestId } from "../../lib/http/request-id.ts";
import type { Log } from "../../lib/log.ts";
import type { SessionRegistry } from "../../pipeline/tokens/session-registry.ts";
import type { Subscriptions } from "../../resources/register.ts";
import { createSubscriber, type SubscriberOptions } from "../../resources/subscriber.ts";
import { createErrorResult } from "../../tools/results/results.ts";
import type { Upstream } from "../../upstream/port.ts";
import { getRequestCaller } from "../../upstream/request-caller.ts";
import { canShowViews, viewCapabilities } from "../../views/catalog.ts";
import type { ServerFactory } from "../mcp-server.ts";
import { createElicitations } from "./elicitations.ts";
import { createName, createSessionIds, type SessionTerms } from "./session-id.ts";
import { type SessionOpening, SessionRequest } from "./session-request.ts";
import { createSessionStreams, follow } from "./session-streams.ts";

export interface SessionOptions {
  readonly factory: ServerFactory;
  readonly upstream: Upstream;
  readonly disabledBySetting: SubscriberOptions["disabledBySetting"];
  readonly sessionRegistry: SessionRegistry;
  /** Signs the ids of sessions; at least 32 bytes, the same in all processes. */
  readonly sessionKey: Uint8Array;
  readonly clock: Clock;
  readonly log: Log;
  readonly maxBodyBytes: number;
  /** Sessions with an open stream, of all callers together. */
  readonly maxSessions: number;
}

/** A request's caller and its parsed body; without one the SDK refuses the request. */
export interface IncomingExchange {
  readonly authInfo: AuthInfo;
  readonly parsedBody?: unknown;
}

export interface Sessions {
  /** Sessions with an open stream. */
  readonly size: number;
  /** Returns the terms of a caller's session, or undefined if the caller has no such session. */
  find(sessionId: string, clientId: string): Promise<SessionTerms | undefined>;
  /**
   * Answers a request within its session, or with 404 if the caller has no such session.
   * @throws Problem `invalid_token` for a token that the service does not know; `unavailable`
   */
  handle(request: Request, sessionId: string, given: IncomingExchange): Promise<Response>;
  /** Answers an `initialize` request with a new session. */
  open(request: Request, opening: SessionOpening): Promise<Response>;
  /** Answers the calls that wait for a human: the server stops, and none of them is made. */
  answerWaiting(): Promise<void>;
  close(): Promise<void>;
}

/** Time from the start of a session to its end. */
export const sessionMs = 7 * 24 * 60 * 60_000;
const sweepMs = 60_000;

/**
 * Serves sessions of 2025-era clients, each bound to its caller. A session's id contains the negotiated terms, so any
 * process on the same database can continue it. The database stores only subscriptions and ended sessions.
 */
export function createSessions(options: SessionOptions): Sessions {
  const { factory, upstream, sessionRegistry: registry, sessionKey, clock, log, maxBodyBytes } = options;
  const ids = createSessionIds(sessionKey, () => clock.now());
  const elicitations = createElicitations({ registry, ids, log });
  const streams = createSessionStreams({ ...options, registry });
  const running = new Map<string, SessionRequest>();
  const sweeper = setInterval(() => {
    void sweep().catch((error: unknown) => log.warn({ err: error }, "Expired sessions could not be deleted"));
  }, sweepMs);
  sweeper.unref();

  async function sweep(): Promise<void> {
    await streams.sweep();
    // Another process may have ended the session.
    await endAsked(running.values(), async (terms) => (await registry.find(terms))?.ended === true);
    await registry.sweep();
  }

  async function find(sessionId: string, callerId: string): Promise<SessionTerms | undefined> {
    const terms = ids.open(sessionId);
    return terms?.callerId === callerId && (await registry.find(terms))?.ended !== true ? terms : undefined;
  }

  function createRequest(request: Request, authInfo: AuthInfo, terms?: SessionTerms): SessionRequest {
    const subscriptions = terms && createSubscriptions(options, terms, authInfo);
    const createServer = () => factory({ era: "legacy", authInfo, requestInfo: request }, subscriptions);
    return new SessionRequest({ createServer, elicitations, running, maxBodyBytes }, terms);
  }

  async function end(request: Request, terms: SessionTerms): Promise<Response> {
    const answer = await new WebStandardStreamableHTTPServerTransport().handleRequest(request);
    if (answer.status !== 200) return answer;
    await registry.end(terms);
    streams.end(terms);
    await endAsked(running.values(), ({ sessionId }) => sessionId === terms.sessionId);
    return answer;
  }

  return {
    get size() {
      return streams.size;
    },

    find,

    async handle(request, sessionId, given) {
      const { authInfo } = given;
      const terms = await find(sessionId, authInfo.clientId);
      if (!terms) return createSessionNotFound();
      if (request.method !== "GET" && request.method !== "DELETE") {
        return createRequest(request, authInfo, terms).answer(request, given);
      }
      await requireKnownCaller(upstream, authInfo);
      return request.method === "GET" ? streams.open(request, terms, authInfo) : end(request, terms);
    },

    open: (request, opening) =>
      createRequest(request, opening.authInfo).open(request, opening, (server) =>
        ids.issue(createSessionTerms(server, opening.authInfo, clock.now())),
      ),

    answerWaiting: () => answerWaiting(running.values()),
    async close() {
      clearInterval(sweeper);
      elicitations.close();
      await streams.close();
      await Promise.all([...new Set(running.values())].map((each) => each.close()));
    },
  };
}

const restartSeconds = 30;

function createStoppingProblem(): Problem {
  const stopping = problem("unavailable", { retryAfterSeconds: restartSeconds }, "The server is stopping.");
  return withRemediation(
    stopping,
    "Nothing was done. Repeat the call after the restart, with the same idempotency key if it had one; your human is asked again.",
  );
}

/** Answers the calls that wait for a human when the server stops. */
async function answerWaiting(running: Iterable<SessionRequest>): Promise<void> {
  const result = createErrorResult(createStoppingProblem());
  await Promise.all([...new Set(running)].map((request) => request.answerWaiting(result)));
}

/** Ends those requests that wait for an answer in a session that has ended: none can arrive any more. */
async function endAsked(
  running: Iterable<SessionRequest>,
  hasEnded: (terms: SessionTerms) => boolean | Promise<boolean>,
): Promise<void> {
  for (const request of new Set(running)) {
    const terms = request.askedSession;
    if (terms && (await hasEnded(terms))) await request.close();
  }
}

/** Stores what a session's client follows, for the process that sends it notifications. */
function createSubscriptions(
  { upstream, disabledBySetting, sessionRegistry: registry }: SessionOptions,
  terms: SessionTerms,
  authInfo: AuthInfo,
): Subscriptions {
  const { token } = authInfo;
  return {
    async follow(uri) {
      const record = await registry.find(terms);
      if (!record) await requireKnownCaller(upstream, authInfo);
      let commitNumber: number | undefined;
      const watch: Upstream["watch"] = async (of, watcher) => {
        const watching = await (upstream.watch as NonNullable<Upstream["watch"]>)(of, watcher);
        commitNumber = watching.position?.commitNumber;
        return watching;
      };
      const subscriber = createSubscriber({ upstream: { ...upstream, watch }, token, disabledBySetting }, silent);
      try {
        await subscriber.start();
        if (record) follow(subscriber, new Set(), record);
        subscriber.add(uri);
      } finally {
        subscriber.stop();
      }
      await registry.follow(terms, uri, commitNumber);
    },
    unfollow: (uri) => registry.unfollow(terms, uri),
  };
}

/**
 * Checks that the service knows the caller, before anything is stored or held open for it.
 * @throws Problem `invalid_token`
 */
async function requireKnownCaller(upstream: Upstream, authInfo: AuthInfo): Promise<void> {
  const context = { http: { authInfo } };
  const { fault } = await upstream.describe({ ...getRequestCaller(context), requestId: getRequestId(context) });
  if (fault?.status === 401) throw fault;
}

function createSessionTerms(server: Server, { clientId: callerId }: AuthInfo, now: Date): SessionTerms {
  const expiresAt = new Date(now.getTime() + sessionMs).toISOString();
  const revision = server.getNegotiatedProtocolVersion() ?? "";
  return { sessionId: createName(), callerId, revision, capabilities: getUsedCapabilities(server), expiresAt };
}

const silent = { updated: () => undefined, listChanged: () => undefined };

/** Returns the capabilities of a client that the server uses. A session's id contains nothing else that a client sends. */
function getUsedCapabilities(server: Server): SessionTerms["capabilities"] {
  const declared = server.getClientCapabilities();
  const { form, url } = declared?.elicitation ?? {};
  const elicitation = { ...(form ? { form: {} } : {}), ...(url ? { url: {} } : {}) };
  return { ...(declared?.elicitation ? { elicitation } : {}), ...(canShowViews(declared) ? viewCapabilities : {}) };
}

function createSessionNotFound(): Response {
  const error = { code: -32_001, message: "Session not found" };
  return Response.json({ jsonrpc: "2.0", id: null, error }, { status: 404 });
}
