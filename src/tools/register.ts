import { ProtocolError, ProtocolErrorCode, type Server } from "@modelcontextprotocol/server";
import { tokenOf } from "../lib/request-id.ts";
import { callTool } from "./call.ts";
import { isToolName, toolsFor } from "./definitions.ts";
import { callSearchTool, isSearchToolName, searchToolsFor } from "./search.ts";
import type { ToolSession } from "./session.ts";

/** Answers `tools/list` and `tools/call` on a server. */
export function registerTools(server: Server, session: ToolSession): void {
  const { upstream, settings } = session;
  const search = settings.toolMode === "search";

  server.setRequestHandler("tools/list", async (_, context) => {
    const { scopes } = await upstream.identify(tokenOf(context, session.token));
    return { tools: search ? searchToolsFor(settings, scopes) : toolsFor(settings, scopes) };
  });

  server.setRequestHandler("tools/call", async ({ params }, context) => {
    const { name, arguments: args = {} } = params;
    const own = { ...session, token: tokenOf(context, session.token) };
    if (search && isSearchToolName(name)) return callSearchTool(own, context, name, args);
    if (isToolName(name)) return callTool(own, context, name, args);
    throw new ProtocolError(ProtocolErrorCode.InvalidParams, `Unknown tool: ${name.slice(0, 128)}`);
  });
}
