import type { Clock } from "../lib/clock.ts";

/** Keeps calls from a service that is down: they are answered at once instead of waiting in vain. */
export interface Breaker {
  /** Seconds until the service is tried again; nothing while it is thought to work. */
  closedForSeconds(): number | undefined;
  succeeded(): void;
  failed(): void;
}

const failuresToOpen = 10;
const firstPauseMs = 2_000;
const maxPauseMs = 60_000;

/** Opens after ten failures in a row. After a pause one call tries; while tries fail the pauses grow to a minute. */
export function createBreaker(clock: Clock): Breaker {
  let failures = 0;
  let pauseMs = firstPauseMs;
  let openUntilMs = 0;

  return {
    closedForSeconds() {
      const nowMs = clock.now().getTime();
      if (failures < failuresToOpen) return undefined;
      if (nowMs < openUntilMs) return Math.ceil((openUntilMs - nowMs) / 1000);
      // This call tries; the others wait for what comes of it.
      openUntilMs = nowMs + pauseMs;
      return undefined;
    },
    succeeded() {
      failures = 0;
      pauseMs = firstPauseMs;
    },
    failed() {
      failures += 1;
      if (failures === failuresToOpen) openUntilMs = clock.now().getTime() + pauseMs;
      if (failures > failuresToOpen) {
        pauseMs = Math.min(maxPauseMs, pauseMs * 2);
        openUntilMs = clock.now().getTime() + pauseMs;
      }
    },
  };
}
