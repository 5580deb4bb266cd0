import type { ToolContext } from "./session.ts";

/** Tells a client that asked for it how far its call is; a client that is gone is told nothing. */
export type Progress = (progress: number, message: string) => Promise<void>;

/** How a call that takes long stays in touch with its client. */
export interface Following {
  readonly progress: Progress;
  /** Aborted when the client cancels. */
  readonly signal: AbortSignal;
}

export function followingOf(context: ToolContext): Following {
  return { progress: progressOf(context), signal: context.mcpReq.signal };
}

function progressOf(context: ToolContext): Progress {
  const progressToken = context.mcpReq._meta?.progressToken;
  if (progressToken === undefined) return async () => undefined;
  return async (progress, message) => {
    const params = { progressToken, progress, message };
    await context.mcpReq.notify({ method: "notifications/progress", params }).catch(() => undefined);
  };
}
