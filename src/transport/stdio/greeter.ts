import { type McpRequestContext, Server } from "@modelcontextprotocol/server";
import type { Scope } from "../../contract/scopes.ts";
import { listToolDefinitions } from "../../tools/catalog/definitions.ts";
import type { ToolSettings } from "../../tools/settings.ts";
import { createServerInfo, createServerOptions, type SubscriptionSupport } from "../server-info.ts";

export interface GreeterDeps extends SubscriptionSupport {
  readonly version: string;
  readonly settings: ToolSettings;
  readonly scopes: ReadonlySet<Scope>;
}

/** Makes servers that greet a client and list the tools, as `createServerFactory` makes them do, and nothing else. */
export function createGreeter({
  version,
  settings,
  scopes,
  ...followed
}: GreeterDeps): (context: McpRequestContext) => Server {
  return () => {
    const server = new Server(createServerInfo(version), createServerOptions(followed));
    server.setRequestHandler("tools/list", () => ({ tools: listToolDefinitions(settings, scopes) }));
    return server;
  };
}
