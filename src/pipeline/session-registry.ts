import type { Clock } from "../lib/clock.ts";
import type { SessionAnswer, SessionKey, SessionRecord } from "../store/coordination/session-store.ts";
import type { Store } from "../store/port.ts";

export type { SessionAnswer, SessionRecord };

/** A session, and when it ends by itself (ISO time). */
export interface RememberedSession extends SessionKey {
  readonly expiresAt: string;
}

/** What is remembered of MCP sessions, the same for all processes on one store. */
export interface SessionRegistry {
  /** Nothing where there is nothing to remember: then the session is as it was opened. */
  find(session: RememberedSession): Promise<SessionRecord | undefined>;
  /** From now on nothing counts any more that comes under its name. */
  end(session: RememberedSession): Promise<void>;
  /**
   * Its client is told of changes by this stream and no other, from a turn on.
   * @returns the record as it was before
   */
  tellBy(session: RememberedSession, streamId: string, turn: number | undefined): Promise<SessionRecord>;
  /** @param turn - up to which the client needs no telling of this */
  follow(session: RememberedSession, uri: string, turn: number | undefined): Promise<void>;
  unfollow(session: RememberedSession, uri: string): Promise<void>;
  /** Leaves what a client answered where the process that asked finds it. */
  leaveAnswer(session: RememberedSession, answer: SessionAnswer): Promise<void>;
  takeAnswers(callerId: string, questionIds: readonly string[]): Promise<readonly SessionAnswer[]>;
  /** Forgets what has expired. */
  sweep(): Promise<void>;
}

/** Sessions of one caller of which something is remembered: those that follow changes, and with those that were ended. */
export const sessionBounds = { live: 100, all: 10_000 };
/** As long as an answer may be waited for, and more. */
const answerMs = 60 * 60_000;
const maxSwept = 1_000;

export function createSessionRegistry({ sessions }: Pick<Store, "sessions">, clock: Clock): SessionRegistry {
  function change(session: RememberedSession, work: (record: SessionRecord) => SessionRecord): Promise<SessionRecord> {
    const { callerId, sessionId, expiresAt } = session;
    const at = clock.now().toISOString();
    return sessions.change({ callerId, sessionId }, { at, expiresAt, bounds: sessionBounds }, work);
  }

  return {
    find: ({ callerId, sessionId }) => sessions.find({ callerId, sessionId }),
    async end(session) {
      await change(session, () => ({ ended: true, streamId: undefined, turn: undefined, followed: [] }));
    },
    async tellBy(session, streamId, turn) {
      let before: SessionRecord | undefined;
      const after = await change(session, (record) => {
        before = record;
        return record.ended ? record : { ...record, streamId, turn };
      });
      return before ?? after;
    },
    async follow(session, uri, turn) {
      await change(session, (record) => {
        const followed = [...new Set(record.followed).add(uri)];
        return record.ended ? record : { ...record, turn: record.turn ?? turn, followed };
      });
    },
    async unfollow(session, uri) {
      await change(session, (record) => ({
        ...record,
        followed: record.followed.filter((followed) => followed !== uri),
      }));
    },
    leaveAnswer: ({ callerId }, answer) => sessions.leaveAnswer(callerId, answer, addMilliseconds(answerMs)),
    takeAnswers: (callerId, questionIds) => sessions.takeAnswers(callerId, questionIds),
    sweep: () => sessions.sweep(clock.now().toISOString(), maxSwept),
  };

  function addMilliseconds(ms: number): string {
    return new Date(clock.now().getTime() + ms).toISOString();
  }
}
