import type { Clock } from "../../lib/clock.ts";

/** Fails calls at once while the service is down, instead of letting them wait. */
export interface CircuitBreaker {
  /** Permits an attempt, or returns the reason why it is rejected. */
  pass(): Permit | Rejection;
  /** `half_open` when the next attempt is permitted alone. */
  state(): BreakerState;
}

export type BreakerState = "closed" | "open" | "half_open";

/**
 * A permitted attempt. An attempt that reports no result, because its caller disconnected, does not affect the
 * breaker.
 */
export interface Permit {
  readonly allowed: true;
  /** Records that the service answered, even with a refusal. */
  answered(): void;
  /** Records that the service did not answer, or answered as one that is down. */
  failed(cause: string): void;
}

export interface Rejection {
  readonly allowed: false;
  readonly retryAfterSeconds: number;
  /** The failure of the last attempt. */
  readonly cause: string;
}

export const failuresToOpen = 10;
export const firstPauseMs = 2_000;
export const maxPauseMs = 60_000;

/**
 * Opens after ten failures in a row. After a pause, one attempt is permitted. The pause grows to a minute while such
 * attempts fail.
 */
export function createCircuitBreaker(clock: Clock): CircuitBreaker {
  let failures = 0;
  let cause = "";
  let pauseMs = firstPauseMs;
  let pausedUntilMs: number | undefined;

  function createPermit(trial: boolean): Permit {
    return {
      allowed: true,
      answered() {
        failures = 0;
        pauseMs = firstPauseMs;
        pausedUntilMs = undefined;
      },
      failed(why) {
        failures += 1;
        cause = why;
        // Attempts that were in flight when the breaker opened do not extend the pause.
        if (pausedUntilMs === undefined ? failures < failuresToOpen : !trial) return;
        if (trial) pauseMs = Math.min(maxPauseMs, pauseMs * 2);
        pausedUntilMs = clock.now().getTime() + pauseMs;
      },
    };
  }

  return {
    pass() {
      if (pausedUntilMs === undefined) return createPermit(false);
      const nowMs = clock.now().getTime();
      const leftMs = pausedUntilMs - nowMs;
      // A pause longer than the maximum means that the clock was set back.
      if (leftMs > 0 && leftMs <= maxPauseMs)
        return { allowed: false, retryAfterSeconds: Math.ceil(leftMs / 1000), cause };
      // This attempt runs. The others are rejected until it ends.
      pausedUntilMs = nowMs + pauseMs;
      return createPermit(true);
    },

    state() {
      if (pausedUntilMs === undefined) return "closed";
      return pausedUntilMs > clock.now().getTime() ? "open" : "half_open";
    },
  };
}
