import { ProtocolError, ProtocolErrorCode, type Server } from "@modelcontextprotocol/server";
import { isCallName, isWorkflowName } from "../contract/index.ts";
import { suggestWord } from "../lib/did-you-mean.ts";
import { getIdentity, getRequestCaller } from "../upstream/request-caller.ts";
import { addDataSchemas, isToolName, toolNames } from "./catalog/definitions.ts";
import { callSearchTool, isSearchToolName } from "./catalog/search.ts";
import { listTools } from "./catalog/tool-modes.ts";
import { addViews } from "./catalog/tool-views.ts";
import { canAsk } from "./confirmation/confirm.ts";
import { callTool } from "./dispatch.ts";
import type { ToolResult } from "./instrumented-call.ts";
import type { ToolContext, ToolSession } from "./session.ts";

type Args = Readonly<Record<string, unknown>>;

/** Registers the handlers for `tools/list` and `tools/call`. */
export function registerTools(server: Server, session: ToolSession): void {
  server.setRequestHandler("tools/list", async (_, context) => ({
    tools: await listCallerTools({ ...session, ...getRequestCaller(context, session) }, session.showsViews(context)),
  }));

  server.setRequestHandler("tools/call", async ({ params }, context) => {
    const { name, arguments: args = {} } = params;
    return answerCall({ ...session, ...getRequestCaller(context, session) }, context, name, args);
  });
}

/** Lists the tools that a caller may use. */
export async function listCallerTools({ upstream, settings, ...caller }: ToolSession, withViews: boolean) {
  const { scopes } = await getIdentity(upstream, caller);
  return addViews(await addDataSchemas(listTools(settings, scopes), settings.results), withViews);
}

/**
 * Answers a call of any tool.
 * @throws ProtocolError if the tool does not exist
 */
export function answerCall(session: ToolSession, context: ToolContext, name: string, args: Args): Promise<ToolResult> {
  if (session.settings.toolMode !== "full" && isSearchToolName(name))
    return callSearchTool(session, context, name, args);
  if (isToolName(name)) return callTool(session, context, name, args);
  const suggestion = suggestWord(name, toolNames);
  throw new ProtocolError(ProtocolErrorCode.InvalidParams, `Unknown tool: ${name.slice(0, 128)}.${suggestion}`);
}

/** Returns whether a call responds at once: it needs no confirmation and waits for nothing. */
export function isAnsweredAtOnce(session: Pick<ToolSession, "settings" | "confirmation">, name: string, args: Args) {
  const search = session.settings.toolMode !== "full" && isSearchToolName(name);
  if (search && name !== "call_tool") return true;
  const { name: called, arguments: given } = search ? args : { name, arguments: args };
  if (called === "get_connection") return true;
  if (typeof called !== "string" || !isCallName(called) || canAsk(session.confirmation, called)) return false;
  if (isWorkflowName(called)) return false;
  return given === undefined || (typeof given === "object" && given !== null && !Object.hasOwn(given, "wait"));
}
