import type { JSONRPCMessage, McpRequestContext, Server, Transport } from "@modelcontextprotocol/server";
import { serveStdio } from "@modelcontextprotocol/server/stdio";
import type { Scope } from "../../contract/access/scopes.ts";
import { addDataSchemas, listToolDefinitions } from "../../tools/catalog/definitions.ts";
import { addViews } from "../../tools/catalog/tool-views.ts";
import type { ToolSettings } from "../../tools/settings.ts";
import { IdentifiedServer } from "../identified-server.ts";
import { createServerOptions, type SubscriptionSupport } from "../server-info.ts";
import { canClientShowViews } from "../view-support.ts";
import type { StdioTransport } from "./stdio-transport.ts";

export interface StartupServerDeps extends SubscriptionSupport {
  readonly version: string;
  readonly settings: ToolSettings;
  readonly scopes: ReadonlySet<Scope>;
}

/** The requests that are answered before the service is open. */
const startupMethods: readonly string[] = [
  "initialize",
  "notifications/initialized",
  "server/discover",
  "ping",
  "tools/list",
];
/** Returns whether a message is answered early. The list of tools has one page: the service refuses any cursor. */
function isStartup(message: JSONRPCMessage): boolean {
  if (!("method" in message) || !startupMethods.includes(message.method)) return false;
  return message.method !== "tools/list" || message.params?.["cursor"] === undefined;
}

/** Messages that are buffered before the service is opened in any case. */
const maxBuffered = 64;

/**
 * Returns a factory of servers that answer {@link startupMethods} as those of `createServerFactory` do. They need
 * neither the contract nor the service, so a client sees the tools at once.
 */
export function createStartupServerFactory({
  version,
  settings,
  scopes,
  ...support
}: StartupServerDeps): (context: McpRequestContext) => Server {
  return () => {
    const server = new IdentifiedServer(version, createServerOptions(support));
    server.setRequestHandler("tools/list", async (_, { mcpReq }) => {
      const withViews = canClientShowViews(settings, mcpReq, server.getClientCapabilities());
      const tools = await addDataSchemas(listToolDefinitions(settings, scopes), settings.results);
      return { tools: addViews(tools, withViews) };
    });
    return server;
  };
}

/**
 * Answers the messages that `transport` buffers until a server connects to it.
 * @returns whether a message needs the service; false if the client ends its input before
 */
export function answerStartup(
  transport: StdioTransport,
  createServer: (context: McpRequestContext) => Server,
): Promise<boolean> {
  const startup: Transport = {
    start: async () => undefined,
    close: async () => undefined,
    send: (message) => transport.sendEarly(message),
  };
  serveStdio(createServer, { transport: startup });
  const { promise, resolve } = Promise.withResolvers<boolean>();
  let buffered = 0;
  transport.onbuffered = (message) => {
    buffered += 1;
    if (isStartup(message) && buffered < maxBuffered) startup.onmessage?.(message);
    else resolve(true);
  };
  void transport.ended.then(() => resolve(false));
  transport.read();
  return promise;
}
