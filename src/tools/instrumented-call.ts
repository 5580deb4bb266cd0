import type { CallToolResult, InputRequiredResult } from "@modelcontextprotocol/server";
import { Problem } from "../contract/errors.ts";
import { getRequestId } from "../lib/http/request-id.ts";
import { createErrorResult } from "./results/results.ts";
import type { ToolContext, ToolSession } from "./session.ts";

export type ToolResult = CallToolResult | InputRequiredResult;

/** A result with its outcome: `ok`, `asked`, or an error code. */
export interface AnsweredCall {
  readonly result: ToolResult;
  readonly code: string;
}

/** Answers a tool call and records it in telemetry. Problems become error results. */
export async function instrumentCall(
  { telemetry, identity }: Pick<ToolSession, "telemetry" | "identity">,
  context: ToolContext,
  name: string,
  answer: (requestId: string) => Promise<AnsweredCall>,
): Promise<ToolResult> {
  const requestId = getRequestId(context);
  const call = {
    kind: "tool",
    name,
    requestId,
    caller: identity?.caller,
    trace: context.mcpReq._meta,
    transport: context.http ? "tcp" : "pipe",
  } as const;
  const { result } = await telemetry.watch(
    call,
    () => answer(requestId).catch(handleRefusal),
    ({ code }) => ({ code }),
  );
  return result;
}

/** @throws any error that is not a Problem */
function handleRefusal(error: unknown): AnsweredCall {
  if (error instanceof Problem) return createRefusal(error);
  throw error;
}

export function createRefusal(problem: Problem): AnsweredCall {
  return { result: createErrorResult(problem), code: problem.code };
}
