import type { ToolContext } from "./session.ts";

/** Sends a progress notification to a client that requested it. Errors of closed connections are ignored. */
export type CallProgress = (progress: number, message: string) => Promise<void>;

/** Progress and cancellation of a long call. */
export interface CallControl {
  readonly progress: CallProgress;
  /** Aborted when the client cancels. */
  readonly signal: AbortSignal;
}

export function createCallControl(context: ToolContext): CallControl {
  return { progress: createProgress(context), signal: context.mcpReq.signal };
}

function createProgress(context: ToolContext): CallProgress {
  const progressToken = context.mcpReq._meta?.progressToken;
  if (progressToken === undefined) return async () => undefined;
  return async (progress, message) => {
    const params = { progressToken, progress, message };
    await context.mcpReq.notify({ method: "notifications/progress", params }).catch(() => undefined);
  };
}
