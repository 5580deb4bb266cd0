import { setTimeout as sleep } from "node:timers/promises";
import pRetry, { AbortError } from "p-retry";
import { Problem, type ProblemCode, problem } from "../../contract/errors.ts";
import type { CircuitBreaker } from "./circuit-breaker.ts";
import type { Timeouts } from "./timeouts.ts";

/** A call that is safe to repeat: a read, or a write with an idempotency key. */
export interface RetriableWork<R> {
  /** The call changes something. */
  readonly writes: boolean;
  /** Aborts the call when the caller disconnects. */
  readonly signal: AbortSignal | undefined;
  /**
   * Reserves the slot of the next attempt.
   * @returns milliseconds until that slot
   * @throws Problem when waiting does not help; then the call fails with it
   */
  turnMs(): number;
  /**
   * Makes one attempt.
   * @throws Problem
   */
  attempt(timeoutMs: number): Promise<R>;
}

export interface RetryPolicy {
  /**
   * Attempts the work until it succeeds, with growing, jittered pauses, within the time of a call.
   * @throws Problem of the last attempt; `upstream_uncertain` for a change that an earlier attempt may have made
   */
  run<R>(work: RetriableWork<R>): Promise<R>;
}

export const maxCallAttempts = 6;
const firstBackoffMs = 100;
const maxBackoffMs = 5_000;

/** Problems that a repeated request may avoid. */
const transient: readonly ProblemCode[] = [
  "upstream_unreachable",
  "upstream_disconnected",
  "upstream_timeout",
  "upstream_unavailable",
  "upstream_invalid_answer",
  "rate_limited",
  "idempotency_in_progress",
];

/** Transient problems of a service that is down. */
const unhealthy: readonly ProblemCode[] = [
  "upstream_unreachable",
  "upstream_disconnected",
  "upstream_timeout",
  "upstream_unavailable",
];

/** Problems after which a change may have been made. */
const uncertain: readonly ProblemCode[] = [
  "upstream_disconnected",
  "upstream_timeout",
  "upstream_unavailable",
  "upstream_failed",
  "upstream_invalid_answer",
  "idempotency_in_progress",
];

/** Problems that leave open whether the service has made the change. */
const inconclusive: readonly ProblemCode[] = [...transient, "upstream_untrusted", "upstream_failed"];

export function createRetryPolicy(circuitBreaker: CircuitBreaker, timeouts: Timeouts): RetryPolicy {
  return { run: (work) => runWithRetries(work, circuitBreaker, timeouts) };
}

async function runWithRetries<R>(
  work: RetriableWork<R>,
  circuitBreaker: CircuitBreaker,
  { attemptMs, callMs }: Timeouts,
): Promise<R> {
  const { signal } = work;
  const endsAtMs = performance.now() + callMs;
  const getRemainingMs = () => endsAtMs - performance.now();
  let mayHaveChanged = false;

  async function attempt(): Promise<R> {
    const permit = circuitBreaker.pass();
    if (!permit.allowed) {
      const { retryAfterSeconds, cause } = permit;
      throw new AbortError(problem("upstream_unavailable", { retryAfterSeconds, cause }));
    }
    const turnMs = takeTurn(work, getRemainingMs());
    if (turnMs > 0) await sleep(turnMs, undefined, { ...(signal && { signal }) });
    try {
      const result = await work.attempt(Math.min(attemptMs, getRemainingMs()));
      permit.answered();
      return result;
    } catch (error) {
      const met = signal?.aborted ? createCancelledProblem() : error;
      if (!(met instanceof Problem)) throw error;
      mayHaveChanged ||= work.writes && uncertain.includes(met.code);
      // A caller that disconnected says nothing about the service's health.
      if (!signal?.aborted) {
        if (unhealthy.includes(met.code)) permit.failed(describeProblem(met));
        else permit.answered();
      }
      throw met;
    }
  }

  try {
    return await pRetry(attempt, {
      retries: maxCallAttempts - 1,
      minTimeout: firstBackoffMs,
      maxTimeout: maxBackoffMs,
      randomize: true,
      ...(signal && { signal }),
      async shouldRetry({ error, retryDelay }) {
        if (!(error instanceof Problem && transient.includes(error.code))) return false;
        const pauseMs = Math.max(getRequestedPauseMs(error), retryDelay);
        if (pauseMs >= getRemainingMs()) return false;
        // The library only waits its own delay. The rest of a longer pause is waited here.
        if (pauseMs > retryDelay) await sleep(pauseMs - retryDelay, undefined, { ...(signal && { signal }) });
        return true;
      },
    });
  } catch (error) {
    const met = signal?.aborted ? createCancelledProblem() : error;
    throw met instanceof Problem && mayHaveChanged && inconclusive.includes(met.code) ? toUncertainOutcome(met) : met;
  }
}

/**
 * Reserves the slot of the next attempt, and returns the milliseconds until it. An error here ends the call, because
 * nothing was sent.
 */
function takeTurn<R>(work: RetriableWork<R>, remainingMs: number): number {
  try {
    const turnMs = work.turnMs();
    if (turnMs >= remainingMs) throw problem("upstream_timeout");
    return turnMs;
  } catch (error) {
    throw error instanceof Problem ? new AbortError(error) : error;
  }
}

/** Returns the problem of a cancelled call. No one reads it. */
function createCancelledProblem(): Problem {
  return problem("upstream_disconnected", { cause: "the call was cancelled" });
}

function toUncertainOutcome(met: Problem): Problem {
  const { upstreamRequestId } = met.details ?? {};
  return problem("upstream_uncertain", {
    cause: describeProblem(met),
    ...(upstreamRequestId ? { upstreamRequestId } : {}),
  });
}

function describeProblem({ message, details }: Problem): string {
  const cause = details?.["cause"];
  return cause === undefined ? message : `${message} (${cause})`;
}

/** Returns the pause that the service asks for. A rate-limited call waits for a slot of its token instead. */
function getRequestedPauseMs({ code, details }: Problem): number {
  return code === "rate_limited" ? 0 : Number(details?.["retryAfterSeconds"] ?? 0) * 1000;
}
