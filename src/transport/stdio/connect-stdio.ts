import type { JSONRPCMessage, McpRequestContext, Transport, TransportSendOptions } from "@modelcontextprotocol/server";
import { serveStdio } from "@modelcontextprotocol/server/stdio";
import { isObject } from "../../lib/is-object.ts";
import type { Log } from "../../lib/log.ts";
import { createListener } from "../../resources/register.ts";
import { createSubscriber, type FollowedResource, type Subscriber } from "../../resources/subscriber.ts";
import type { Upstream } from "../../upstream/port.ts";
import type { FastPath } from "../fast-path/fast-path.ts";
import { type PlainRequest, toPlainRequest } from "../fast-path/plain-request.ts";
import { createInFlightRequests } from "../http/in-flight-requests.ts";
import type { ServerFactory } from "../mcp-server.ts";
import { startListening } from "../sessions/listen.ts";
import { DrainingTransport } from "./draining-transport.ts";
import type { LineSplitter } from "./line-splitter.ts";
import { openStdioTransport } from "./stdio-transport.ts";

/** What carries the messages of a connection. */
export type Wire = Transport & {
  /** The same before they are read, where they come in lines. */
  readonly lines?: LineSplitter | undefined;
};

export interface StdioDeps {
  readonly factory: ServerFactory;
  readonly fastPath: FastPath;
  readonly upstream: Upstream;
  readonly disabledBySetting: FollowedResource["disabledBySetting"];
  readonly token: string;
  readonly log: Log;
}

export interface StdioConnection {
  /** Resolves when every request has been answered, at the latest after so long. */
  settled(maxMs: number): Promise<void>;
  close(): Promise<void>;
}

/** Subscriptions open at once on one connection. */
export const maxListens = 64;

/** Serves one MCP connection, over stdin and stdout unless another transport is given; every log line goes to stderr. */
export function connectStdio(
  { factory, fastPath, upstream, disabledBySetting, token, log }: StdioDeps,
  given?: Wire,
): StdioConnection {
  const { wire, lines } = given ? { wire: given, lines: given.lines } : openStdioTransport();
  const transport = new DrainingTransport(wire);
  let server: ReturnType<ServerFactory> | undefined;
  let era: McpRequestContext["era"] | undefined;
  const reportError = () => server && createListener(server);
  const subscriber = createSubscriber(
    { upstream, token, disabledBySetting },
    { updated: (uri) => reportError()?.updated(uri), listChanged: (list) => reportError()?.listChanged(list) },
  );
  const serve: ServerFactory = (context) => {
    era = context.era;
    server = factory(context);
    return server;
  };
  /** How the connection began: the SDK settles that by its first messages. */
  const getProtocolContext = (): ProtocolContext | undefined => {
    const revision = server?.getNegotiatedProtocolVersion();
    return era === "modern" ? { stateless: true } : revision === undefined ? undefined : { stateless: false, revision };
  };
  const fast = createFastPathHandler({
    fastPath,
    token,
    protocolContext: getProtocolContext,
    send: (message) => transport.send(message),
    log,
  });
  if (lines) lines.take = (line) => takeLine(line, fast, transport);
  const handle = serveStdio(serve, {
    transport: new HeardTransport(transport, fast, createListenHandler(subscriber, log), () => subscriber.stop()),
    maxSubscriptions: maxListens,
    onerror: (error) => log.debug({ err: error }, "A message was refused"),
  });
  return {
    settled: (maxMs) => transport.settled(maxMs),
    async close() {
      subscriber.stop();
      await handle.close();
    },
  };
}

/** How requests of a connection say of which revision they are: each by itself, or by the handshake. */
type ProtocolContext = { readonly stateless: true } | { readonly stateless: false; readonly revision: string };

interface BesideSdk {
  readonly fastPath: FastPath;
  readonly token: string;
  readonly protocolContext: () => ProtocolContext | undefined;
  readonly send: (message: JSONRPCMessage) => Promise<void>;
  readonly log: Log;
}

/** There is one connection over stdio. */
const thisOne = "stdio";

/** Answers plain requests; false for any other message, which is the SDK's. */
function createFastPathHandler({
  fastPath,
  token,
  protocolContext,
  send,
  log,
}: BesideSdk): (message: JSONRPCMessage) => boolean {
  const calls = createInFlightRequests();

  async function answer(request: PlainRequest, revision: string | undefined): Promise<void> {
    const { signal, end } = calls.begin(thisOne, request.id);
    const response = await fastPath.answer(request, { token, revision, signal });
    end();
    // Who has called it off waits for no answer.
    if (!signal.aborted) await send(response);
  }

  return (message) => {
    if (!isObject(message) || !("method" in message)) return false;
    if (message.method === "notifications/cancelled") calls.cancel(thisOne, message.params?.["requestId"]);
    const ground = protocolContext();
    const request = ground && toPlainRequest(message, ground.stateless);
    if (!request || !fastPath.takes(request)) return false;
    answer(request, ground.stateless ? undefined : ground.revision).catch((error: unknown) =>
      log.debug({ err: error }, "An answer could not be sent"),
    );
    return true;
  };
}

/** Takes a line that is a plain request: the SDK's reader looks into each message for longer than answering it takes. */
function takeLine(line: string, fast: (message: JSONRPCMessage) => boolean, transport: DrainingTransport): boolean {
  if (!line.includes('"tools/')) return false;
  try {
    const message = JSON.parse(line) as JSONRPCMessage;
    if (!fast(message)) return false;
    transport.heard(message);
    return true;
  } catch {
    return false;
  }
}

/** Follows what a client of 2026-07-28 listens for; gives the message back as it is to be answered. */
function createListenHandler(subscriber: Subscriber, log: Log) {
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
      const listen = await startListening(message, subscriber);
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

  constructor(
    inner: Transport,
    take: (message: JSONRPCMessage) => boolean,
    hear: (message: JSONRPCMessage) => Promise<JSONRPCMessage>,
    closed: () => void,
  ) {
    this.#inner = inner;
    inner.onmessage = (message, extra) => {
      if (take(message)) return;
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
