import { callBatch } from "./batch/run-batch.ts";
import { callOperation } from "./call.ts";
import type { ToolName } from "./catalog/definitions.ts";
import { isOwnToolName, type OwnToolName } from "./catalog/own-tools.ts";
import { callConnection } from "./connection.ts";
import type { ToolResult } from "./instrumented-call.ts";
import type { ToolContext, ToolSession } from "./session.ts";

type CallOwnTool = (
  session: ToolSession,
  context: ToolContext,
  args: Readonly<Record<string, unknown>>,
) => Promise<ToolResult>;

const ownToolHandlers: Readonly<Record<OwnToolName, CallOwnTool>> = {
  run_batch: callBatch,
  get_connection: callConnection,
};

/** Answers a call of a tool, whether it is that of an operation or another. */
export function callTool(
  session: ToolSession,
  context: ToolContext,
  name: ToolName,
  args: Readonly<Record<string, unknown>>,
): Promise<ToolResult> {
  return isOwnToolName(name)
    ? ownToolHandlers[name](session, context, args)
    : callOperation(session, context, name, args);
}
