import type { Clock } from "../../lib/clock.ts";

/** Keeps calls from a service that is down: they are answered at once instead of waiting in vain. */
export interface CircuitBreaker {
  /** Lets a try through, or says why it is of no use now. */
  pass(): Permit | Refusal;
  /** `half_open` when the next try is let through alone. */
  state(): BreakerState;
}

export type BreakerState = "closed" | "open" | "half_open";

/** A try that was let through. One that reports nothing, because its caller went away, says nothing of the service. */
export interface Permit {
  readonly allowed: true;
  /** The service answered, if only to refuse. */
  answered(): void;
  /** It did not, or as one that is down does. */
  failed(cause: string): void;
}

export interface Refusal {
  readonly allowed: false;
  readonly retryAfterSeconds: number;
  /** What the last try ran into. */
  readonly cause: string;
}

export const failuresToOpen = 10;
export const firstPauseMs = 2_000;
export const maxPauseMs = 60_000;

/**
 * Opens after ten failures in a row: nothing is let through. After a pause one try is; while such tries fail, the pauses
 * grow to a minute.
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
        // Of the tries that were under way when the pause began, none makes it longer.
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
      // A pause longer than any is a clock that was set back.
      if (leftMs > 0 && leftMs <= maxPauseMs)
        return { allowed: false, retryAfterSeconds: Math.ceil(leftMs / 1000), cause };
      // This one tries; the others wait for what comes of it.
      pausedUntilMs = nowMs + pauseMs;
      return createPermit(true);
    },

    state() {
      if (pausedUntilMs === undefined) return "closed";
      return pausedUntilMs > clock.now().getTime() ? "open" : "half_open";
    },
  };
}
