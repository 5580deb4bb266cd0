import {
  type AuthInfo,
  type JSONRPCNotification,
  type ServerEvent,
  WebStandardStreamableHTTPServerTransport,
} from "@modelcontextprotocol/server";
import { problem } from "../../contract/errors.ts";
import type { Log } from "../../lib/log.ts";
import type { SessionRecord, SessionRegistry } from "../../pipeline/tokens/session-registry.ts";
import { createSubscriber, type Subscriber, type SubscriberOptions } from "../../resources/subscriber.ts";
import type { Upstream, Watch, Watcher } from "../../upstream/port.ts";
import { createOutlet, maxStreamsPerCaller } from "./listen.ts";
import { createName, type SessionTerms } from "./session-id.ts";

export interface SessionStreamsDeps {
  readonly upstream: Upstream;
  readonly disabledBySetting: SubscriberOptions["disabledBySetting"];
  readonly registry: SessionRegistry;
  readonly log: Log;
  /** Streams open at once, of all callers together. */
  readonly maxSessions: number;
}

/** Streams of change notifications to clients of 2025-era sessions. */
export interface SessionStreams {
  /** Open streams. */
  readonly size: number;
  /**
   * Opens a session's stream, and ends an older one of the session.
   * @throws Problem `unavailable` for too many streams, and as {@link Subscriber.start} does
   */
  open(request: Request, terms: SessionTerms, authInfo: AuthInfo): Promise<Response>;
  /** Ends a session's stream, if this process has it. */
  end(terms: SessionTerms): void;
  /** Ends streams of sessions that have ended, or have another stream in another process. */
  sweep(): Promise<void>;
  close(): Promise<void>;
}

interface Stream {
  readonly terms: SessionTerms;
  /** Ends the stream unless it is still the session's current one. */
  refresh(): Promise<void>;
  end(): void;
}

const retryAfterSeconds = 60;
const encoder = new TextEncoder();

export function createSessionStreams(deps: SessionStreamsDeps): SessionStreams {
  const { upstream, maxSessions } = deps;
  const streams = new Map<string, Stream>();

  function requireRoom({ sessionId, callerId }: SessionTerms): void {
    if (streams.has(sessionId)) return;
    const own = [...streams.values()].filter(({ terms }) => terms.callerId === callerId);
    if (streams.size >= maxSessions || own.length >= maxStreamsPerCaller) {
      throw problem("unavailable", { retryAfterSeconds });
    }
  }

  return {
    get size() {
      return streams.size;
    },

    async open(request, terms, authInfo) {
      if (!upstream.watch) return createNotOfferedResponse();
      requireRoom(terms);
      const inner = new WebStandardStreamableHTTPServerTransport();
      inner.sessionId = request.headers.get("mcp-session-id") ?? "";
      const answer = await inner.handleRequest(request);
      if (answer.status !== 200 || !answer.body) return answer;
      streams.get(terms.sessionId)?.end();
      const outlet = createOutlet(() => stream.end());
      const body = openBody(answer.body, () => stream.end());
      outlet.deliverTo((event) => body.write(toNotification(event)));
      const stream = createStream(deps, terms, authInfo, outlet.listener, () => {
        if (streams.get(terms.sessionId) === stream) streams.delete(terms.sessionId);
        void inner.close();
      });
      streams.set(terms.sessionId, stream);
      try {
        await stream.start();
      } catch (error) {
        stream.end();
        throw error;
      }
      return outlet.countRead(new Response(body.readable, answer));
    },

    end: ({ sessionId }) => streams.get(sessionId)?.end(),

    async sweep() {
      for (const stream of [...streams.values()]) await stream.refresh();
    },

    async close() {
      for (const stream of [...streams.values()]) stream.end();
    },
  };
}

type Listener = Parameters<typeof createSubscriber>[1];

/**
 * Creates the stream of one session. Before each notification it reads again what the client follows, because another
 * process may have received the client's request.
 */
function createStream(
  { upstream, disabledBySetting, registry, log }: SessionStreamsDeps,
  terms: SessionTerms,
  { token, scopes: shownBy }: AuthInfo,
  listener: Listener,
  release: () => void,
) {
  const streamId = createName();
  const followed = new Set<string>();
  const ready = Promise.withResolvers<void>();
  let sending = ready.promise;
  let watching: Watch | undefined;
  let open = true;
  const subscriber = createSubscriber(
    { upstream: { ...upstream, watch }, token, disabledBySetting, listedScopes: shownBy },
    listener,
  );

  /** Sends changes in order, each after a fresh read of what the client follows. */
  async function watch(of: string | undefined, watcher: Watcher): Promise<Watch> {
    const schedule = (send: () => void) => {
      sending = sending.then(async () => {
        await refresh();
        if (open) send();
      });
    };
    if (!upstream.watch) throw problem("unavailable", { retryAfterSeconds });
    watching = await upstream.watch(of, {
      changed: (changes) => schedule(() => watcher.changed(changes)),
      rescoped: (scopes) => schedule(() => watcher.rescoped(scopes)),
      ended: () => watcher.ended(),
    });
    return watching;
  }

  async function refresh(): Promise<void> {
    try {
      const record = await registry.find(terms);
      if (!record || record.ended || record.streamId !== streamId) end();
      else follow(subscriber, followed, record);
    } catch (error) {
      // Changes to what was followed so far are still sent.
      log.warn({ err: error }, "A session could not be read");
    }
  }

  function end(): void {
    if (!open) return;
    open = false;
    subscriber.stop();
    release();
  }

  return {
    terms,
    refresh,
    end,
    /** Starts to send, first the changes since the session's last stream or since its first subscription. */
    async start(): Promise<void> {
      await subscriber.start();
      const position = watching?.position;
      const { commitNumber, followed: before } = await registry.tellBy(terms, streamId, position?.commitNumber);
      ready.resolve();
      if (commitNumber !== undefined && before.length > 0) await position?.since(commitNumber);
    },
  };
}

/** Makes a subscriber follow exactly the resources that a session's record names. */
export function follow(subscriber: Subscriber, followed: Set<string>, record: SessionRecord): void {
  const wanted = new Set(record.followed);
  for (const uri of followed.difference(wanted)) {
    subscriber.remove(uri);
    followed.delete(uri);
  }
  for (const uri of wanted.difference(followed)) {
    try {
      subscriber.add(uri);
      followed.add(uri);
    } catch {
      // The token may not read it now. It stays in the record for a token that may.
    }
  }
}

function toNotification(event: ServerEvent): JSONRPCNotification {
  if (event.kind === "resource_updated") {
    return { jsonrpc: "2.0", method: "notifications/resources/updated", params: { uri: event.uri } };
  }
  const list = event.kind.split("_")[0];
  return { jsonrpc: "2.0", method: `notifications/${list}/list_changed` };
}

/**
 * Returns the same body, with a function that adds a notification to it. Calls `ended` when it ends or nobody reads it
 * any more. The SDK's `send` first checks each message against four schemas of answers, which takes a fifth of the
 * processor time of a change with 100 listeners, half of them in sessions.
 */
function openBody(body: ReadableStream<Uint8Array>, ended: () => void) {
  let frames: TransformStreamDefaultController<Uint8Array> | undefined;
  const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>({
    start(controller) {
      frames = controller;
    },
  });
  body.pipeTo(writable).then(ended, ended);
  return {
    readable,
    write(notification: JSONRPCNotification): void {
      try {
        frames?.enqueue(encoder.encode(`event: message\ndata: ${JSON.stringify(notification)}\n\n`));
      } catch {
        // The client has left.
        ended();
      }
    },
  };
}

/** Refuses a stream because there are no notifications (specification of 2025-06-18, transports). */
function createNotOfferedResponse(): Response {
  const error = { code: -32_000, message: "Method not allowed." };
  return Response.json({ jsonrpc: "2.0", id: null, error }, { status: 405, headers: { allow: "POST, DELETE" } });
}
