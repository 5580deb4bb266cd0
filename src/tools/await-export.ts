import { setTimeout as delay } from "node:timers/promises";
import { errorCatalog } from "../contract/errors.ts";
import type { UpstreamCall } from "../upstream/port.ts";
import type { CallControl } from "./call-control.ts";
import type { ToolSession } from "./session.ts";

interface Job {
  readonly exportId: string;
  readonly status: string;
}

export interface AwaitedExport {
  readonly data: unknown;
  readonly notes: readonly string[];
}

const firstIntervalMs = 250;
const maxIntervalMs = 5_000;

/**
 * Polls an export until it is completed or failed, the caller cancels, or the time limit is reached. The export
 * continues in any case. Returns the last state seen.
 */
export async function awaitExport(
  { upstream, settings }: ToolSession,
  created: UpstreamCall,
  job: unknown,
  { progress, signal }: CallControl,
): Promise<AwaitedExport> {
  const { exportId } = job as Job;
  const startedMs = performance.now();
  const getElapsedMs = () => performance.now() - startedMs;
  const limitMs = settings.exportWaitSeconds * 1000;
  let lastSeen = job;
  let intervalMs = firstIntervalMs;
  while ((lastSeen as Job).status === "pending") {
    const remainingMs = limitMs - getElapsedMs();
    if (remainingMs <= 0)
      return { data: lastSeen, notes: [createUnfinishedNote(`after ${settings.exportWaitSeconds} seconds`)] };
    await delay(Math.min(intervalMs, remainingMs), undefined, { signal }).catch(() => undefined);
    if (signal.aborted) return { data: lastSeen, notes: [createUnfinishedNote("when the call was cancelled")] };
    const { token, requestId } = created;
    const pollCall = { operation: "get_export", input: { exportId }, token, requestId } as const;
    const answer = await upstream.call({
      ...pollCall,
      signal: AbortSignal.any([signal, AbortSignal.timeout(Math.ceil(remainingMs))]),
    });
    if (answer.ok) lastSeen = answer.data;
    else if (!errorCatalog[answer.problem.code].retryable)
      return { data: lastSeen, notes: [`${createUnfinishedNote("so far")} ${answer.problem.message}`] };
    intervalMs = Math.min(intervalMs * 2, maxIntervalMs);
    const elapsedSeconds = Math.round(getElapsedMs() / 1000);
    await progress(getElapsedMs() / 1000, `${(lastSeen as Job).status}, ${elapsedSeconds} s`);
  }
  return { data: lastSeen, notes: [] };
}

function createUnfinishedNote(when: string): string {
  return `The export was still pending ${when}; follow it with get_export.`;
}
