import type { JSONRPCMessage, Server, Transport, TransportSendOptions } from "@modelcontextprotocol/server";
import { StdioServerTransport, serveStdio } from "@modelcontextprotocol/server/stdio";
import type { Log } from "../lib/log.ts";
import { listenerOf } from "../resources/register.ts";
import { createSubscriber, type Following, type Subscriber } from "../resources/subscriber.ts";
import type { Upstream } from "../upstream/port.ts";
import { hearListen } from "./listen.ts";
import type { ServerFactory } from "./server.ts";

/** What carries the messages of a connection. */
export type Wire = Transport;

export interface StdioDeps {
  readonly factory: ServerFactory;
  readonly upstream: Upstream;
  readonly withheldBy: Following["withheldBy"];
  readonly token: string;
  readonly log: Log;
}

export interface StdioConnection {
  close(): Promise<void>;
}

/** Subscriptions open at once on one connection. */
const maxListens = 64;

/** Serves one MCP connection, over stdin and stdout unless another transport is given; every log line goes to stderr. */
export function connectStdio(
  { factory, upstream, withheldBy, token, log }: StdioDeps,
  transport: Transport = new StdioServerTransport(),
): StdioConnection {
  let server: Server | undefined;
  const tell = () => server && listenerOf(server);
  const subscriber = createSubscriber(
    { upstream, token, withheldBy },
    { updated: (uri) => tell()?.updated(uri), listChanged: (list) => tell()?.listChanged(list) },
  );
  const handle = serveStdio((context) => (server = factory(context)), {
    transport: new HeardTransport(transport, hearing(subscriber, log), () => subscriber.stop()),
    maxSubscriptions: maxListens,
    onerror: (error) => log.debug({ err: error }, "A message was refused"),
  });
  return {
    async close() {
      subscriber.stop();
      await handle.close();
    },
  };
}

/** Follows what a client of 2026-07-28 listens for; gives the message back as it is to be answered. */
function hearing(subscriber: Subscriber, log: Log) {
  const listens = new Map<unknown, readonly string[]>();

  function forget(id: unknown): void {
    for (const uri of listens.get(id) ?? []) subscriber.remove(uri);
    listens.delete(id);
  }

  return async (message: JSONRPCMessage): Promise<JSONRPCMessage> => {
    if (!("method" in message)) return message;
    if (message.method === "notifications/cancelled") forget(message.params?.["requestId"]);
    if (listens.size >= maxListens) return message;
    try {
      const listen = await hearListen(message, subscriber);
      if (!listen) return message;
      forget(listen.id);
      listens.set(listen.id, listen.uris);
      return listen.message;
    } catch (error) {
      log.warn({ err: error }, "Changes cannot be followed");
      return message;
    }
  };
}

/** A transport whose messages are heard before they are served: the SDK keeps to itself who listens for what. */
class HeardTransport implements Transport {
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: NonNullable<Transport["onmessage"]>;
  readonly #inner: Transport;
  #order: Promise<void> = Promise.resolve();

  constructor(inner: Transport, hear: (message: JSONRPCMessage) => Promise<JSONRPCMessage>, closed: () => void) {
    this.#inner = inner;
    inner.onmessage = (message, extra) => {
      this.#order = this.#order.then(async () => this.onmessage?.(await hear(message), extra));
    };
    inner.onerror = (error) => this.onerror?.(error);
    inner.onclose = () => {
      closed();
      this.onclose?.();
    };
  }

  start(): Promise<void> {
    return this.#inner.start();
  }

  send(message: JSONRPCMessage, options?: TransportSendOptions): Promise<void> {
    return this.#inner.send(message, options);
  }

  close(): Promise<void> {
    return this.#inner.close();
  }
}
