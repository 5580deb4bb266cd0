import pRetry from "p-retry";

export interface RetryOptions {
  readonly firstPauseMs: number;
  readonly maxPauseMs: number;
  /** Returns for how long since the first attempt an error may be retried; 0 if it may not. */
  readonly getLimitMs: (error: unknown) => number;
  readonly onFirstRetry?: (error: unknown) => void;
}

/** Runs work until it succeeds, or throws the error that may not be retried any longer. */
export function retry<R>(
  work: () => R | Promise<R>,
  { firstPauseMs, maxPauseMs, getLimitMs, onFirstRetry }: RetryOptions,
): Promise<R> {
  const startedMs = performance.now();
  return pRetry(work, {
    retries: Number.POSITIVE_INFINITY,
    minTimeout: firstPauseMs,
    maxTimeout: maxPauseMs,
    randomize: true,
    shouldRetry({ error, retryDelay, attemptNumber }) {
      const isAllowed = performance.now() - startedMs + retryDelay <= getLimitMs(error);
      if (isAllowed && attemptNumber === 1) onFirstRetry?.(error);
      return isAllowed;
    },
  });
}
