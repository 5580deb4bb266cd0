import { Problem, problem } from "../contract/errors.ts";
import type { Log } from "../lib/log.ts";
import { type Rate, RateLimited } from "./rate-limiter.ts";

export interface Failure {
  readonly ok: false;
  readonly problem: Problem;
  readonly rate?: Rate;
  readonly replayed?: boolean;
  /** The id of the token that called. */
  readonly caller?: string | undefined;
}

/**
 * Returns the failure that a refusal is.
 * @throws whatever is not a refusal
 */
export function toFailure(error: unknown): Failure {
  if (error instanceof Problem) return { ok: false, problem: error };
  throw error;
}

interface Refused {
  readonly requestId: string;
  readonly operation?: string | undefined;
}

/** A catalogue refusal for whatever was thrown; what is unforeseen goes to the log and stays out of the answer. */
export function toProblem(error: unknown, { requestId, operation }: Refused, log: Log): Problem {
  if (error instanceof RateLimited) return error.problem;
  if (error instanceof Problem) {
    // The caller is told to come again; what is the matter is for the operator.
    if (error.cause !== undefined)
      log.warn({ err: error.cause, requestId, operation }, "The call could not be answered");
    return error;
  }
  log.error({ err: error, requestId, operation }, "The call failed");
  return problem("internal_error", { requestId });
}
