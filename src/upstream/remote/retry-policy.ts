import { setTimeout as sleep } from "node:timers/promises";
import { Problem, type ProblemCode, problem } from "../../contract/errors.ts";
import type { CircuitBreaker, Permit } from "./circuit-breaker.ts";
import type { Timeouts } from "./timeouts.ts";

/** What is tried: it must be safe to repeat, a read or a write under its idempotency key. */
export interface RetriableWork<R> {
  /** Whether the call changes something. */
  readonly writes: boolean;
  /** Ends the call when its caller has gone. */
  readonly signal: AbortSignal | undefined;
  /**
   * Milliseconds to wait for before each try.
   * @throws Problem where waiting is of no use: the call ends with it
   */
  turnMs(): number;
  /** One try, which takes no longer. @throws Problem what it ran into */
  attempt(timeoutMs: number): Promise<R>;
}

export interface RetryPolicy {
  /**
   * Tries until it works, with growing and jittered pauses, for as long as a call may take.
   * @throws Problem the last one met; `upstream_uncertain` for a change that an earlier try may have made
   */
  run<R>(work: RetriableWork<R>): Promise<R>;
}

export const maxCallAttempts = 6;
const firstBackoffMs = 100;
const maxBackoffMs = 5_000;

/** Problems that the same request may not meet again. */
const passing: readonly ProblemCode[] = [
  "upstream_unreachable",
  "upstream_disconnected",
  "upstream_timeout",
  "upstream_unavailable",
  "upstream_invalid_answer",
  "rate_limited",
  "idempotency_in_progress",
];

/** Of them, those of a service that is down. */
const ailing: readonly ProblemCode[] = [
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

/** Problems by which a try ended without the service's word on the change. */
const inconclusive: readonly ProblemCode[] = [...passing, "upstream_untrusted", "upstream_failed"];

export function createRetryPolicy(circuitBreaker: CircuitBreaker, timeouts: Timeouts): RetryPolicy {
  return {
    async run(work) {
      const endsAtMs = performance.now() + timeouts.callMs;
      const getRemainingMs = () => endsAtMs - performance.now();
      let doubtful = false;
      for (let attempts = 1; ; attempts += 1) {
        const outcome = await tryOnce(work, circuitBreaker, timeouts.attemptMs, getRemainingMs);
        if ("result" in outcome) return outcome.result;
        const { met, sent } = outcome;
        doubtful ||= work.writes && sent && uncertain.includes(met.code);
        const pauseMs = computePauseMs(met, attempts);
        const worthIt = sent && passing.includes(met.code) && attempts < maxCallAttempts && pauseMs < getRemainingMs();
        if (!worthIt || work.signal?.aborted) {
          throw doubtful && inconclusive.includes(met.code) ? toUncertainOutcome(met) : met;
        }
        await sleep(pauseMs, undefined, work.signal ? { signal: work.signal } : {}).catch(() => undefined);
      }
    },
  };
}

type Outcome<R> = { readonly result: R } | { readonly met: Problem; readonly sent: boolean };

/** One try with its wait for a turn; `sent` is false where it was not even begun. */
function tryOnce<R>(
  work: RetriableWork<R>,
  circuitBreaker: CircuitBreaker,
  attemptMs: number,
  leftMs: () => number,
): Outcome<R> | Promise<Outcome<R>> {
  const pass = circuitBreaker.pass();
  if (!pass.allowed) {
    const { retryAfterSeconds, cause } = pass;
    return { met: problem("upstream_unavailable", { retryAfterSeconds, cause }), sent: false };
  }
  let turnMs: number;
  try {
    turnMs = work.turnMs();
  } catch (error) {
    if (error instanceof Problem) return { met: error, sent: false };
    throw error;
  }
  if (turnMs >= leftMs()) return { met: problem("upstream_timeout"), sent: false };
  const attemptCall = () => runAttempt(work, pass, Math.min(attemptMs, leftMs()));
  if (turnMs === 0) return attemptCall();
  return sleep(turnMs, undefined, work.signal ? { signal: work.signal } : {}).then(attemptCall, () => ({
    met: createCancelledProblem(),
    sent: false,
  }));
}

async function runAttempt<R>(work: RetriableWork<R>, pass: Permit, timeoutMs: number): Promise<Outcome<R>> {
  if (work.signal?.aborted) return { met: createCancelledProblem(), sent: false };
  try {
    const result = await work.attempt(timeoutMs);
    pass.answered();
    return { result };
  } catch (error) {
    if (work.signal?.aborted) return { met: createCancelledProblem(), sent: true };
    if (!(error instanceof Problem)) throw error;
    if (ailing.includes(error.code)) pass.failed(describeProblem(error));
    else pass.answered();
    return { met: error, sent: true };
  }
}

/** Nobody is left to read it. */
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

/** What the service asks for, or a random part of a span that doubles. */
function computePauseMs({ code, details }: Problem, attempts: number): number {
  const span = Math.min(maxBackoffMs, firstBackoffMs * 2 ** attempts);
  const backoffMs = span / 2 + Math.random() * (span / 2);
  // Who is rate-limited waits for a turn, as all of the same token do.
  const askedMs = code === "rate_limited" ? 0 : Number(details?.["retryAfterSeconds"] ?? 0) * 1000;
  return Math.max(askedMs, backoffMs);
}
