import type { Problem } from "../../contract/errors.ts";
import { type CallName, operations } from "../../contract/index.ts";
import type { Clock } from "../../lib/clock.ts";
import type { Log } from "../../lib/log.ts";
import type { Caller } from "../../store/handler-context.ts";
import type { Store } from "../../store/port.ts";
import type { AccessLog } from "../audit/access-log.ts";
import { type AuditedCall, createAccessEntry, unreadOperation } from "../audit/entries.ts";
import { type Failure, toProblem } from "../failure.ts";
import { type Rate, RateLimited, type RateLimiter } from "../rate-limiter.ts";
import { authenticate } from "./authenticate.ts";

/** The facts of a call that are known before its arguments are read. */
export interface CallHead {
  /** Absent if the request was refused before its operation was known. */
  readonly operation?: CallName | undefined;
  readonly token: string | undefined;
  /** The token's caller, if the request was authenticated before. */
  readonly caller?: Caller | undefined;
  readonly requestId: string;
}

/** An authenticated caller, and the state of its rate after the call's permit was used. */
export interface Admitted {
  readonly caller: Caller;
  readonly rate: Rate;
}

/** An authenticated call that has used a permit and whose outcome is recorded. */
export interface Admission {
  readonly ok: true;
  /** The caller, with its scopes at admission. */
  readonly caller: Caller;
  /** Returns the permit of this admission to the first operation, and uses another permit for each further one. */
  use(input: AuditedCall["input"]): Promise<Admitted | Failure>;
  /** Records that the call was refused. Does nothing once an operation has used the admission. */
  refuse(problem: Problem, input?: AuditedCall["input"]): Promise<void>;
}

export interface AdmissionDeps {
  readonly store: Store;
  readonly clock: Clock;
  readonly log: Log;
  readonly limiter: RateLimiter;
  readonly accessLog: AccessLog;
}

/** The first step of a call: authenticates it, unless its request was, and uses a permit of its token's rate. */
export interface AdmissionControl {
  /** @param input - names the record in the audit entry of a refusal */
  admit(head: CallHead, input?: AuditedCall["input"]): Promise<Admission | Failure>;
  recordRefusal(head: CallHead, caller: Caller, refusal: Problem, input?: AuditedCall["input"]): Promise<void>;
}

export function createAdmissionControl({ store, clock, log, limiter, accessLog }: AdmissionDeps): AdmissionControl {
  function recordRefusal(
    { operation, requestId }: CallHead,
    caller: Caller,
    { status }: Problem,
    input: AuditedCall["input"] = {},
  ): Promise<void> {
    const audited = operation === undefined ? unreadOperation : operations[operation];
    return accessLog.record(
      createAccessEntry({ caller, operation: audited, requestId, input, now: clock.now() }, status),
    );
  }

  async function consumePermit(
    head: CallHead,
    caller: Caller,
    input?: AuditedCall["input"],
  ): Promise<Admitted | Failure> {
    try {
      // A call that cannot be recorded must not run.
      accessLog.expectRoom();
      return { caller, rate: await limiter.consume(caller.tokenId) };
    } catch (error) {
      const refusal = toProblem(error, head, log);
      const failure: Failure = { ok: false, problem: refusal, caller: caller.tokenId };
      if (!(error instanceof RateLimited)) return failure;
      await recordRefusal(head, caller, refusal, input);
      return { ...failure, rate: error.rate };
    }
  }

  function createAdmission(head: CallHead, admitted: Admitted): Admission {
    const { caller } = admitted;
    let isUsed = false;
    return {
      ok: true,
      caller,
      async use(input) {
        if (isUsed) return consumePermit(head, caller, input);
        isUsed = true;
        return admitted;
      },
      async refuse(problem, input) {
        if (!isUsed) await recordRefusal(head, caller, problem, input);
        isUsed = true;
      },
    };
  }

  async function admit(head: CallHead, input?: AuditedCall["input"]): Promise<Admission | Failure> {
    let caller: Caller;
    try {
      caller = head.caller ?? (await authenticate(store, clock, head.token));
    } catch (error) {
      return { ok: false, problem: toProblem(error, head, log), caller: undefined };
    }
    const admitted = await consumePermit(head, caller, input);
    return "ok" in admitted ? admitted : createAdmission(head, admitted);
  }

  return { admit, recordRefusal };
}
