import type { CallToolResult, InputRequiredResult, ServerContext } from "@modelcontextprotocol/server";
import { Problem } from "../contract/errors.ts";
import type { OperationName } from "../contract/index.ts";
import { newId } from "../lib/ids.ts";
import { prepare } from "./arguments.ts";
import { errorResult, resultOf } from "./results.ts";
import type { ToolSession } from "./session.ts";

/** Answers one tool call: arguments made ready, confirmation where it is due, the call, and its result. */
export async function callTool(
  session: ToolSession,
  context: ServerContext,
  name: OperationName,
  args: Readonly<Record<string, unknown>>,
): Promise<CallToolResult | InputRequiredResult> {
  try {
    const { input } = prepare(name, args);
    const requestId = newId("req");
    return resultOf(await session.upstream.call({ operation: name, input, token: session.token, requestId }));
  } catch (error) {
    if (error instanceof Problem) return errorResult(error);
    throw error;
  }
}
