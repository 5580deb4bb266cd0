import type { ReportProgress } from "../upstream/port.ts";
import type { ToolContext } from "./session.ts";

/** Progress and cancellation of a long call. */
export interface CallControl {
  /** Errors of closed connections are ignored. */
  readonly progress: ReportProgress;
  /** Aborted when the client cancels. */
  readonly signal: AbortSignal;
}

export function createCallControl(context: ToolContext): CallControl {
  return { progress: createProgress(context), signal: context.mcpReq.signal };
}

/** The latest progress of each request, whose stages report one after the other. */
const latestProgress = new WeakMap<object, number>();

/** Returns a function that reports progress. Adjusts values, because each must exceed the one before it (MCP). */
function createProgress({ mcpReq }: ToolContext): ReportProgress {
  const progressToken = mcpReq._meta?.progressToken;
  if (progressToken === undefined) return async () => undefined;
  return async (value, message) => {
    // Nothing follows a cancellation (MCP of 2026-07-28, cancellation over stdio).
    if (mcpReq.signal.aborted) return;
    const latest = latestProgress.get(mcpReq) ?? Number.NEGATIVE_INFINITY;
    const progress = value > latest ? value : latest + 1;
    latestProgress.set(mcpReq, progress);
    const params = { progressToken, progress, message };
    await mcpReq.notify({ method: "notifications/progress", params }).catch(() => undefined);
  };
}
