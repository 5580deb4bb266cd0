import { setTimeout as sleep } from "node:timers/promises";

/** Time during which work is retried after a connection was lost. */
export const lostTimeoutMs = 2_000;
const [firstPauseMs, maxPauseMs] = [5, 200];

/**
 * Runs work until it succeeds.
 * @param patienceMs - returns the time since the first attempt during which an error is retried; 0 for one that is not
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
