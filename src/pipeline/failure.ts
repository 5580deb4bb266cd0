import { Problem, problem } from "../contract/errors.ts";
import type { Log } from "../lib/log.ts";
import { type Rate, RateLimited } from "./rate-limiter.ts";

export interface Failure {
  readonly ok: false;
  readonly problem: Problem;
  readonly rate?: Rate;
  readonly replayed?: boolean;
  /** The id of the calling token. */
  readonly caller?: string | undefined;
}

/**
 * Turns a refusal into a failure.
 * @throws the error itself if it is not a refusal
 */
export function toFailure(error: unknown): Failure {
  if (error instanceof Problem) return { ok: false, problem: error };
  throw error;
}

interface CallLabel {
  readonly requestId: string;
  readonly operation?: string | undefined;
}

/** Turns any error into a catalogue refusal. An unexpected error is logged, and the answer does not reveal it. */
export function toProblem(error: unknown, { requestId, operation }: CallLabel, log: Log): Problem {
  if (error instanceof RateLimited) return error.problem;
  if (error instanceof Problem) {
    // The caller only learns to try again; the cause is for the operator.
    if (error.cause !== undefined)
      log.warn({ err: error.cause, requestId, operation }, "The call could not be answered");
    return error;
  }
  log.error({ err: error, requestId, operation }, "The call failed");
  return problem("internal_error", { requestId });
}
