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
 * Follows an export until it is completed or failed, the caller cancels, or the time allowed is up; the job goes on
 * whatever becomes of the waiting.
 *
 * @returns the job as it was seen last
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
  let seen = job;
  let intervalMs = firstIntervalMs;
  while ((seen as Job).status === "pending") {
    const leftMs = limitMs - getElapsedMs();
    if (leftMs <= 0)
      return { data: seen, notes: [createUnfinishedNote(`after ${settings.exportWaitSeconds} seconds`)] };
    await delay(Math.min(intervalMs, leftMs), undefined, { signal }).catch(() => undefined);
    if (signal.aborted) return { data: seen, notes: [createUnfinishedNote("when the call was cancelled")] };
    const { token, requestId } = created;
    const look = { operation: "get_export", input: { exportId }, token, requestId } as const;
    const answer = await upstream.call({
      ...look,
      signal: AbortSignal.any([signal, AbortSignal.timeout(Math.ceil(leftMs))]),
    });
    if (answer.ok) seen = answer.data;
    else if (!errorCatalog[answer.problem.code].retryable)
      return { data: seen, notes: [`${createUnfinishedNote("so far")} ${answer.problem.message}`] };
    intervalMs = Math.min(intervalMs * 2, maxIntervalMs);
    const elapsedSeconds = Math.round(getElapsedMs() / 1000);
    await progress(getElapsedMs() / 1000, `${(seen as Job).status}, ${elapsedSeconds} s`);
  }
  return { data: seen, notes: [] };
}

function createUnfinishedNote(when: string): string {
  return `The export was still pending ${when}; follow it with get_export.`;
}
