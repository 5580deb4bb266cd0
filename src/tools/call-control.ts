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

function createProgress(context: ToolContext): ReportProgress {
  const progressToken = context.mcpReq._meta?.progressToken;
  if (progressToken === undefined) return async () => undefined;
  return async (progress, message) => {
    const params = { progressToken, progress, message };
    await context.mcpReq.notify({ method: "notifications/progress", params }).catch(() => undefined);
  };
}
