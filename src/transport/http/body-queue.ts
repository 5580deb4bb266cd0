import { setTimeout as wait } from "node:timers/promises";
import { problem } from "../../contract/errors.ts";

/** Lets each of many do one thing at a time, and not one right after the other. */
export interface Turns {
  /**
   * Does work when that before it by the same one has ended.
   * @throws Problem `rate_limited` with too much waiting already, and whatever the work throws
   */
  take<R>(who: string, work: () => Promise<R>): Promise<R>;
}

export interface TurnsOptions {
  /** Of one. */
  readonly maxWaiting: number;
  /** Between the end of one's turn and its next. */
  readonly pauseMs: number;
}

export function createTurns({ maxWaiting, pauseMs }: TurnsOptions): Turns {
  const lines = new Map<string, { last: Promise<unknown>; length: number }>();
  return {
    async take(who, work) {
      const line = lines.get(who) ?? { last: Promise.resolve(), length: 0 };
      if (line.length > maxWaiting) throw problem("rate_limited", { retryAfterSeconds: 1 });
      lines.set(who, line);
      line.length += 1;
      const turn = line.last.then(work);
      // The next one comes whether this one went well or not.
      line.last = turn.catch(() => undefined).then(() => wait(pauseMs, undefined, { ref: false }));
      void line.last.then(() => {
        line.length -= 1;
        if (line.length === 0) lines.delete(who);
      });
      return turn;
    },
  };
}
