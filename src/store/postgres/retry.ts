import { setTimeout as sleep } from "node:timers/promises";

/** How long what failed for want of a connection is tried again. */
export const lostTimeoutMs = 2_000;
const [firstPauseMs, maxPauseMs] = [5, 200];

/**
 * Runs work until it succeeds.
 * @param patienceMs - for how long since the beginning an error is a reason to run it again; 0 where it is none
 */
export async function retry<R>(work: () => Promise<R>, patienceMs: (error: unknown) => number): Promise<R> {
  const startedMs = performance.now();
  for (let pauseMs = firstPauseMs; ; pauseMs = Math.min(2 * pauseMs, maxPauseMs)) {
    try {
      return await work();
    } catch (error) {
      if (performance.now() - startedMs + pauseMs > patienceMs(error)) throw error;
    }
    await sleep(pauseMs * (0.5 + Math.random()));
  }
}
