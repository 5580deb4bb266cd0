import {
  type AuthInfo,
  createMcpHandler,
  type McpHttpHandler,
  readRequestBody,
  type ServerEvent,
  type ServerEventBus,
} from "@modelcontextprotocol/server";
import * as z from "zod";
import { problem } from "../contract/errors.ts";
import type { Log } from "../lib/log.ts";
import { createSubscriber, type Subscriber } from "../resources/subscriber.ts";
import type { Upstream } from "../upstream/port.ts";
import type { ServerFactory } from "./server.ts";

export const listenMethod = "subscriptions/listen";

const ListenRequest = z.looseObject({
  id: z.union([z.string(), z.number()]),
  method: z.literal(listenMethod),
  params: z.looseObject({
    notifications: z.looseObject({ resourceSubscriptions: z.array(z.string()).optional() }),
  }),
});

export interface Listen {
  readonly id: string | number;
  /** The request without what cannot be followed: the SDK acknowledges what it names. */
  readonly message: z.output<typeof ListenRequest>;
  readonly uris: readonly string[];
}

/** A `subscriptions/listen` request; each URI in it is handed to the subscriber. Nothing for any other message. */
export function hearListen(message: unknown, subscriber: Subscriber): Listen | undefined {
  const request = ListenRequest.safeParse(message).data;
  if (!request) return undefined;
  const { notifications } = request.params;
  const uris = [...new Set(notifications.resourceSubscriptions)].filter((uri) => follow(subscriber, uri));
  const params = { ...request.params, notifications: { ...notifications, resourceSubscriptions: uris } };
  return { id: request.id, message: { ...request, params }, uris };
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
  readonly log: Log;
  readonly maxBodyBytes: number;
}

export interface ListenEndpoint {
  /** @throws Problem `payload_too_large`, and what following changes can be refused with */
  fetch(request: Request, authInfo: AuthInfo): Promise<Response>;
  close(): Promise<void>;
}

/** Streams open at once, of all callers and of one. */
const maxStreams = 1_024;
const maxStreamsPerCaller = 16;
/** Notifications that a client may leave unread before its stream is closed. */
const maxUnread = 1_000;

/**
 * Answers `subscriptions/listen` over HTTP. Each stream has a bus of its own that carries what its caller may know:
 * one bus for all would tell every caller of every tenant's changes.
 */
export function createListenEndpoint({ factory, upstream, log, maxBodyBytes }: ListenDeps): ListenEndpoint {
  /** Open streams and whose they are. */
  const open = new Map<McpHttpHandler, string>();

  function isFull(clientId: string): boolean {
    const own = [...open.values()].filter((holder) => holder === clientId);
    return open.size >= maxStreams || own.length >= maxStreamsPerCaller;
  }

  async function fetch(request: Request, authInfo: AuthInfo): Promise<Response> {
    const body = await readRequestBody(request, maxBodyBytes);
    if (body.tooLarge) throw problem("payload_too_large", { maxBytes: maxBodyBytes });
    const stream = createStream(() => void handler.close());
    const subscriber = createSubscriber({ upstream, token: authInfo.token }, stream.listener);
    const bus: ServerEventBus = {
      publish: () => undefined,
      subscribe(deliver) {
        open.set(handler, authInfo.clientId);
        stream.deliverTo(deliver);
        return () => {
          open.delete(handler);
          subscriber.stop();
        };
      },
    };
    const onerror = (error: Error) => log.debug({ err: error }, "A subscription was refused");
    const handler = createMcpHandler(factory, { legacy: "reject", bus, maxRequestBodySize: maxBodyBytes, onerror });

    const listen = hearListen(parsedOrUndefined(body.text), subscriber);
    if (listen && isFull(authInfo.clientId)) return refuseFull(listen);
    if (listen) await subscriber.start();
    const { url, method, headers, signal } = request;
    const readAgain = new Request(url, { method, headers, signal, body: body.text });
    const answer = await handler.fetch(readAgain, { authInfo, ...(listen ? { parsedBody: listen.message } : {}) });
    if (open.has(handler)) return stream.counted(answer);
    subscriber.stop();
    return answer;
  }

  return {
    fetch,
    async close() {
      await Promise.all([...open.keys()].map((handler) => handler.close()));
    },
  };
}

/** What goes out on one stream, counted until the client has read it. */
function createStream(end: () => void) {
  let deliver: ((event: ServerEvent) => void) | undefined;
  let unread = 0;
  function send(event: ServerEvent): void {
    if (unread >= maxUnread) end();
    else deliver?.(event);
  }
  return {
    listener: {
      updated: (uri: string) => send({ kind: "resource_updated", uri }),
      listChanged: (list: "tools" | "resources" | "prompts") => send({ kind: `${list}_list_changed` }),
      ended: end,
    },
    deliverTo(to: (event: ServerEvent) => void) {
      deliver = to;
    },
    counted(answer: Response): Response {
      return answer;
    },
  };
}

function refuseFull({ id }: Listen): Response {
  return Response.json({ jsonrpc: "2.0", id, error: { code: -32_603, message: "Subscription limit reached" } });
}

function parsedOrUndefined(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
