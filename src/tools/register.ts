import { ProtocolError, ProtocolErrorCode, type Server } from "@modelcontextprotocol/server";
import { newId } from "../lib/ids.ts";
import type { Upstream } from "../upstream/port.ts";
import { isToolName, toolsFor } from "./definitions.ts";
import { resultOf } from "./results.ts";

/** What the tools of one connection or request work with. */
export interface ToolSession {
  readonly upstream: Upstream;
  /** The caller's bearer token. */
  readonly token: string | undefined;
}

/** Answers `tools/list` and `tools/call` on a server. */
export function registerTools(server: Server, { upstream, token }: ToolSession): void {
  server.setRequestHandler("tools/list", async () => ({ tools: toolsFor((await upstream.identify(token)).scopes) }));

  server.setRequestHandler("tools/call", async ({ params }) => {
    if (!isToolName(params.name)) {
      throw new ProtocolError(ProtocolErrorCode.InvalidParams, `Unknown tool: ${params.name.slice(0, 128)}`);
    }
    const input = params.arguments ?? {};
    return resultOf(await upstream.call({ operation: params.name, input, token, requestId: newId("req") }));
  });
}
