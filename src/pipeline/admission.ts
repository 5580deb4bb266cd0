import type { Problem } from "../contract/errors.ts";
import { type CallName, operations } from "../contract/index.ts";
import type { Clock } from "../lib/clock.ts";
import type { Log } from "../lib/log.ts";
import type { Caller } from "../store/handler-context.ts";
import type { Store } from "../store/port.ts";
import type { AccessLog } from "./access-log.ts";
import { type AuditedCall, createAccessEntry, unreadOperation } from "./audit.ts";
import { authenticate } from "./authenticate.ts";
import { type Failure, toProblem } from "./failure.ts";
import { type Rate, RateLimited, type RateLimiter } from "./rate-limiter.ts";

/** A call as far as it is known before its arguments are looked at. */
export interface CallHead {
  /** Nothing where the request was refused before it was known what it asks for. */
  readonly operation?: CallName | undefined;
  readonly token: string | undefined;
  readonly requestId: string;
}

/** Who was let in, and where its token stands now. */
export interface Admitted {
  readonly caller: Caller;
  readonly rate: Rate;
}

/** A call that was let in by its token alone: it has used a permit, and how it ends is recorded. */
export interface Admission {
  readonly ok: true;
  /** Hands the admission over to the one call that it is for; undefined the second time. */
  take(): Admitted | undefined;
  /** Records that the call was refused; does nothing once the admission was taken. */
  refuse(problem: Problem, input?: Readonly<Record<string, unknown>>): Promise<void>;
}

function createAdmission(admitted: Admitted, record: Admission["refuse"]): Admission {
  let open = true;
  const close = () => {
    const wasOpen = open;
    open = false;
    return wasOpen;
  };
  return {
    ok: true,
    take: () => (close() ? admitted : undefined),
    refuse: async (problem, input) => {
      if (close()) await record(problem, input);
    },
  };
}

/** The admission of a call whose permits and records are kept by somebody else. */
export const unrecordedAdmission: Admission = {
  ok: true,
  take: () => undefined,
  refuse: async () => undefined,
};

export interface EntranceDeps {
  readonly store: Store;
  readonly clock: Clock;
  readonly log: Log;
  readonly limiter: RateLimiter;
  readonly accessLog: AccessLog;
}

/** Lets calls in by their tokens alone. */
export interface Entrance {
  /** @param input - what a refusal's record names the record asked for by */
  enter(head: CallHead, input?: AuditedCall["input"]): Promise<Admitted | Failure>;
  admit(head: CallHead): Promise<Admission | Failure>;
  recordRefusal(head: CallHead, caller: Caller, refusal: Problem, input?: AuditedCall["input"]): Promise<void>;
}

export function createEntrance({ store, clock, log, limiter, accessLog }: EntranceDeps): Entrance {
  async function enter(head: CallHead, input?: AuditedCall["input"]): Promise<Admitted | Failure> {
    let caller: Caller | undefined;
    try {
      caller = await authenticate(store, clock, head.token);
      // What cannot be recorded is not done.
      accessLog.expectRoom();
      return { caller, rate: await limiter.consume(caller.tokenId) };
    } catch (error) {
      const refusal = toProblem(error, head, log);
      const rate = error instanceof RateLimited ? { rate: error.rate } : {};
      if (caller && error instanceof RateLimited) await recordRefusal(head, caller, refusal, input);
      return { ok: false, problem: refusal, ...rate, caller: caller?.tokenId };
    }
  }

  function recordRefusal(
    { operation, requestId }: CallHead,
    caller: Caller,
    { status }: Problem,
    input: AuditedCall["input"] = {},
  ): Promise<void> {
    const about = operation === undefined ? unreadOperation : operations[operation];
    return accessLog.record(
      createAccessEntry({ caller, operation: about, requestId, input, now: clock.now() }, status),
    );
  }

  async function admit(head: CallHead): Promise<Admission | Failure> {
    const entered = await enter(head);
    if ("ok" in entered) return entered;
    return createAdmission(entered, (refusal, input) => recordRefusal(head, entered.caller, refusal, input));
  }

  return { enter, admit, recordRefusal };
}
