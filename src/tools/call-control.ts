import type { ToolContext } from "./session.ts";

/** Tells a client that asked for it how far its call is; a client that is gone is told nothing. */
export type CallProgress = (progress: number, message: string) => Promise<void>;

/** How a call that takes long stays in touch with its client. */
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
