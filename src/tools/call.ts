import type { CallToolResult, InputRequiredResult, ServerContext } from "@modelcontextprotocol/server";
import { Problem } from "../contract/errors.ts";
import type { OperationName } from "../contract/index.ts";
import { newId } from "../lib/ids.ts";
import { prepare } from "./arguments.ts";
import { withConfirmation } from "./confirm.ts";
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
    const { input, own } = prepare(name, args);
    const call = { operation: name, input, token: session.token, requestId: newId("req") };
    const answer = await withConfirmation(session, context, call, own.confirmation);
    return "question" in answer ? answer.question : resultOf(answer);
  } catch (error) {
    if (error instanceof Problem) return errorResult(error);
    throw error;
  }
}
