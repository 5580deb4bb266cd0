import type { JSONRPCMessage, McpRequestContext } from "@modelcontextprotocol/server";
import { serveStdio } from "@modelcontextprotocol/server/stdio";
import type { Log } from "../../lib/log.ts";
import { createListener } from "../../resources/register.ts";
import { createSubscriber, type Subscriber, type SubscriberOptions } from "../../resources/subscriber.ts";
import type { Upstream } from "../../upstream/port.ts";
import type { FastPath } from "../fast-path/fast-path.ts";
import type { ServerFactory } from "../mcp-server.ts";
import { startListening } from "../sessions/listen.ts";
import { StdioTransport } from "./stdio-transport.ts";

export interface StdioDeps {
  readonly factory: ServerFactory;
  readonly fastPath: FastPath;
  readonly upstream: Upstream;
  readonly disabledBySetting: SubscriberOptions["disabledBySetting"];
  readonly token: string;
  readonly log: Log;
  /** The time that calls in flight may take to end when the connection closes, in milliseconds. */
  readonly drainMs: number;
}

export interface StdioConnection {
  /** Resolves when the connection is closed. */
  readonly closed: Promise<void>;
  /** Closes the connection once every call in flight is answered. */
  close(): Promise<void>;
}

/** Subscriptions open at once on one connection. */
export const maxListens = 64;

/** Serves one MCP connection on `transport` until the client ends its input. */
export function connectStdio(
  { factory, fastPath, upstream, disabledBySetting, token, log, drainMs }: StdioDeps,
  transport: StdioTransport = new StdioTransport(),
): StdioConnection {
  let server: ReturnType<ServerFactory> | undefined;
  let era: McpRequestContext["era"] | undefined;
  const getListener = () => server && createListener(server);
  const subscriber = createSubscriber(
    { upstream, token, disabledBySetting },
    { updated: (uri) => getListener()?.updated(uri), listChanged: (list) => getListener()?.listChanged(list) },
  );
  const createServer: ServerFactory = (context) => {
    era = context.era;
    server = factory(context);
    return server;
  };
  transport.handlers = {
    answer: (message) => {
      const stateless = era === "modern";
      const revision = server?.getNegotiatedProtocolVersion();
      // The SDK negotiates first.
      if (!stateless && revision === undefined) return undefined;
      const capabilities = server?.getClientCapabilities();
      const terms = () => (revision === undefined ? undefined : { revision, capabilities });
      const connection = { id: "stdio", token, stateless, terms };
      return fastPath.answer(message, connection, new AbortController());
    },
    prepare: createListenHandler(subscriber, log),
  };
  void transport.closed.then(() => subscriber.stop());
  const handle = serveStdio(createServer, {
    transport,
    maxSubscriptions: maxListens,
    onerror: (error) => log.debug({ err: error }, "A message was refused"),
  });
  const close = async () => {
    await transport.drain(drainMs);
    await handle.close();
  };
  void transport.ended.then(close);
  return { closed: transport.closed, close };
}

/** Follows the resources that a client of 2026-07-28 listens to. Returns the message that the SDK has to answer. */
function createListenHandler(subscriber: Subscriber, log: Log) {
  const listens = new Map<unknown, readonly string[]>();

  function unfollow(id: unknown): void {
    for (const uri of listens.get(id) ?? []) subscriber.remove(uri);
    listens.delete(id);
  }

  return async (message: JSONRPCMessage): Promise<JSONRPCMessage> => {
    if (!("method" in message)) return message;
    if (message.method === "notifications/cancelled") unfollow(message.params?.["requestId"]);
    if (listens.size >= maxListens) return message;
    try {
      const listen = await startListening(message, subscriber);
      if (!listen) return message;
      unfollow(listen.id);
      listens.set(listen.id, listen.uris);
      return listen.message;
    } catch (error) {
      log.warn({ err: error }, "Changes cannot be followed");
      return message;
    }
  };
}
