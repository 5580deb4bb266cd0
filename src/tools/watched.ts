import type { CallToolResult, InputRequiredResult } from "@modelcontextprotocol/server";
import { Problem } from "../contract/errors.ts";
import { getRequestCaller, getRequestId } from "../lib/http/request-id.ts";
import { errorResult } from "./results.ts";
import type { ToolContext, ToolSession } from "./session.ts";

/** What a tool call is answered with. */
export type ToolResult = CallToolResult | InputRequiredResult;

/** The same, and how the call came out: `ok`, `asked`, or an error code. */
export interface Answered {
  readonly result: ToolResult;
  readonly code: string;
}

/** Answers a tool call under the eyes of whoever watches; refusals become results. */
export async function watched(
  { telemetry }: Pick<ToolSession, "telemetry">,
  context: ToolContext,
  name: string,
  answer: (requestId: string) => Promise<Answered>,
): Promise<ToolResult> {
  const requestId = getRequestId(context);
  const call = {
    kind: "tool",
    name,
    requestId,
    caller: getRequestCaller(context),
    trace: context.mcpReq._meta,
    transport: context.http ? "tcp" : "pipe",
  } as const;
  const { result } = await telemetry.watch(
    call,
    () => answer(requestId).catch(refused),
    ({ code }) => ({ code }),
  );
  return result;
}

/** @throws whatever is no Problem */
function refused(error: unknown): Answered {
  if (error instanceof Problem) return refusal(error);
  throw error;
}

export function refusal(problem: Problem): Answered {
  return { result: errorResult(problem), code: problem.code };
}
