import { ProtocolError, ProtocolErrorCode, type Server } from "@modelcontextprotocol/server";
import { callTool } from "./call.ts";
import { isToolName, toolsFor } from "./definitions.ts";
import type { ToolSession } from "./session.ts";

/** Answers `tools/list` and `tools/call` on a server. */
export function registerTools(server: Server, session: ToolSession): void {
  const { upstream, token } = session;
  server.setRequestHandler("tools/list", async () => ({ tools: toolsFor((await upstream.identify(token)).scopes) }));

  server.setRequestHandler("tools/call", async ({ params }, context) => {
    if (!isToolName(params.name)) {
      throw new ProtocolError(ProtocolErrorCode.InvalidParams, `Unknown tool: ${params.name.slice(0, 128)}`);
    }
    return callTool(session, context, params.name, params.arguments ?? {});
  });
}
