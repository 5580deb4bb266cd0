import { type McpRequestContext, Server } from "@modelcontextprotocol/server";
import type { Scope } from "../contract/scopes.ts";
import { listToolDefinitions } from "../tools/catalog/definitions.ts";
import type { ToolSettings } from "../tools/settings.ts";
import { type Followed, serverInfoOf, serverOptions } from "./greeting.ts";

export interface GreeterDeps extends Followed {
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
    const server = new Server(serverInfoOf(version), serverOptions(followed));
    server.setRequestHandler("tools/list", () => ({ tools: listToolDefinitions(settings, scopes) }));
    return server;
  };
}
