import { setTimeout as sleep } from "node:timers/promises";
import { catalogue, Problem, type ProblemCode, problem } from "../contract/errors.ts";
import type { Breaker } from "./breaker.ts";

/** One try at a call: what it gives, or the problem it ran into. */
export type Attempt<R> = (signal: AbortSignal) => Promise<R>;

const maxAttempts = 6;
const callTimeoutMs = 45_000;
const firstBackoffMs = 100;
const maxBackoffMs = 5_000;

/** Problems that the same request, under the same idempotency key, may not meet again. */
const passing: readonly ProblemCode[] = [
  "upstream_unreachable",
  "upstream_timeout",
  "upstream_invalid_answer",
  "upstream_unavailable",
  "rate_limited",
  "idempotency_in_progress",
];

/** Of them, those that tell of the service's health. */
const ailing: readonly ProblemCode[] = passing.filter((code) => code.startsWith("upstream_"));

/**
 * Tries until it works, with growing and jittered pauses, never longer than 45 s in all. What is tried must be safe to
 * repeat: a read, or a write under its idempotency key.
 *
 * @throws Problem the last one met
 */
export async function patiently<R>(breaker: Breaker, caller: AbortSignal | undefined, attempt: Attempt<R>): Promise<R> {
  const endsAtMs = performance.now() + callTimeoutMs;
  const deadline = AbortSignal.timeout(callTimeoutMs);
  const signal = caller ? AbortSignal.any([caller, deadline]) : deadline;
  for (let attempts = 1; ; attempts += 1) {
    const retryAfterSeconds = breaker.closedForSeconds();
    if (retryAfterSeconds !== undefined) throw problem("upstream_unavailable", { retryAfterSeconds });
    try {
      const result = await attempt(signal);
      breaker.succeeded();
      return result;
    } catch (error) {
      const met = asProblem(error, deadline);
      if (!met) throw error;
      if (ailing.includes(met.code)) breaker.failed();
      else breaker.succeeded();
      const pauseMs = pauseOf(met, attempts);
      const worthIt = passing.includes(met.code) && attempts < maxAttempts && performance.now() + pauseMs < endsAtMs;
      if (!worthIt || caller?.aborted) throw met;
      await sleep(pauseMs, undefined, { signal }).catch(() => undefined);
    }
  }
}

function asProblem(error: unknown, deadline: AbortSignal): Problem | undefined {
  if (error instanceof Problem) return error;
  return deadline.aborted ? problem("upstream_timeout") : undefined;
}

/** What the service asks for, or a random part of a span that doubles. */
function pauseOf({ code, details }: Problem, attempts: number): number {
  const asked = Number(details?.["retryAfterSeconds"]) * 1000;
  const span = Math.min(maxBackoffMs, firstBackoffMs * 2 ** attempts);
  const backoff = span / 2 + Math.random() * (span / 2);
  return catalogue[code].retryable && asked > 0 ? Math.max(asked, backoff) : backoff;
}
