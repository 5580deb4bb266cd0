import {
  type AuthInfo,
  createMcpHandler,
  type McpHttpHandler,
  type ServerEvent,
  type ServerEventBus,
} from "@modelcontextprotocol/server";
import * as z from "zod";
import type { Log } from "../../lib/log.ts";
import {
  createSubscriber,
  type Listener,
  maxFollowed,
  type Subscriber,
  type SubscriberOptions,
} from "../../resources/subscriber.ts";
import type { Upstream } from "../../upstream/port.ts";
import type { ServerFactory } from "../mcp-server.ts";
import { listenMethod } from "../server-info.ts";

const ListenRequest = z.looseObject({
  id: z.union([z.string(), z.number()]),
  method: z.literal(listenMethod),
  params: z.looseObject({
    notifications: z.looseObject({ resourceSubscriptions: z.array(z.string()).optional() }),
  }),
});

export interface Listen<Message = unknown> {
  readonly id: string | number;
  /** The request without resources that cannot be followed: the SDK acknowledges all that it names. */
  readonly message: Message;
  readonly uris: readonly string[];
}

/**
 * Follows the resources that a `subscriptions/listen` request names. Returns undefined for any other message.
 * @throws Problem, as {@link Subscriber.start} does
 */
export async function startListening<Message>(
  message: Message,
  subscriber: Subscriber,
): Promise<Listen<Message> | undefined> {
  const request = ListenRequest.safeParse(message).data;
  if (!request) return undefined;
  await subscriber.start();
  const { notifications } = request.params;
  const requested = [...new Set(notifications.resourceSubscriptions)].slice(0, maxFollowed);
  const uris = requested.filter((uri) => follow(subscriber, uri));
  const params = { ...request.params, notifications: { ...notifications, resourceSubscriptions: uris } };
  return { id: request.id, message: { ...message, params }, uris };
}

function follow(subscriber: Subscriber, uri: string): boolean {
  try {
    subscriber.add(uri);
    return true;
  } catch {
    return false;
  }
}

export interface ListenDeps {
  readonly factory: ServerFactory;
  readonly upstream: Upstream;
  readonly disabledBySetting: SubscriberOptions["disabledBySetting"];
  readonly log: Log;
}

export interface Listening {
  /** Open streams. */
  readonly size: number;
  /**
   * Answers a `subscriptions/listen` request with a stream. The SDK refuses any other message.
   * @throws Problem `unavailable`, and as {@link Subscriber.start} does
   */
  open(request: Request, parsedBody: unknown, authInfo: AuthInfo): Promise<Response>;
  close(): Promise<void>;
}

/** Streams open at once, of all callers and of one. */
export const maxStreams = 1_024;
export const maxStreamsPerCaller = 16;
/** Notifications that a client may leave unread before its stream is closed. */
export const maxUnread = 1_000;

/**
 * Serves subscriptions over HTTP. Each stream has its own event bus with the events that its caller may see: a common
 * bus would send every tenant's changes to every caller.
 */
export function createListening({ factory, upstream, disabledBySetting, log }: ListenDeps): Listening {
  /** Open streams and their clients' ids. */
  const streams = new Map<McpHttpHandler, string>();

  function isFull(clientId: string): boolean {
    const own = [...streams.values()].filter((owner) => owner === clientId);
    return streams.size >= maxStreams || own.length >= maxStreamsPerCaller;
  }

  return {
    get size() {
      return streams.size;
    },

    async open(request, parsedBody, authInfo) {
      if (isFull(authInfo.clientId)) return refuseFull(parsedBody);
      const outlet = createOutlet(() => void handler.close());
      const subscriber = createSubscriber({ upstream, token: authInfo.token, disabledBySetting }, outlet.listener);
      const release = () => {
        streams.delete(handler);
        subscriber.stop();
      };
      let streaming = false;
      const bus: ServerEventBus = {
        publish: () => undefined,
        subscribe(deliver) {
          streaming = true;
          outlet.deliverTo(deliver);
          return release;
        },
      };
      const handleError = (error: Error) => log.debug({ err: error }, "A subscription was refused");
      const handler = createMcpHandler(factory, { legacy: "reject", bus, onerror: handleError });
      streams.set(handler, authInfo.clientId);
      try {
        const listen = await startListening(parsedBody, subscriber);
        const answer = await handler.fetch(request, { authInfo, parsedBody: listen?.message ?? parsedBody });
        return streaming ? outlet.countRead(answer) : answer;
      } finally {
        if (!streaming) release();
      }
    },

    async close() {
      await Promise.all([...streams.keys()].map((handler) => handler.close()));
    },
  };
}

/** Sends notifications to one stream. Calls `end` when its client leaves too many of them unread. */
export function createOutlet(end: () => void) {
  let deliver: ((event: ServerEvent) => void) | undefined;
  let unread = 0;
  const listener: Listener = {
    updated(uri) {
      unread += 1;
      if (unread > maxUnread) end();
      else deliver?.({ kind: "resource_updated", uri });
    },
    listChanged: (list) => deliver?.({ kind: `${list}_list_changed` }),
    ended: end,
  };
  return {
    listener,
    deliverTo(to: (event: ServerEvent) => void): void {
      deliver = to;
    },
    /** Returns the same response, and counts what the client reads of it. */
    countRead({ body, status, headers }: Response): Response {
      const read = new TransformStream<Uint8Array, Uint8Array>({
        transform(frame, controller) {
          unread = Math.max(0, unread - 1);
          controller.enqueue(frame);
        },
      });
      return new Response(body?.pipeThrough(read) ?? null, { status, headers });
    },
  };
}

function refuseFull(message: unknown): Response {
  const { id } = ListenRequest.safeParse(message).data ?? { id: null };
  return Response.json({ jsonrpc: "2.0", id, error: { code: -32_603, message: "Subscription limit reached" } });
}
