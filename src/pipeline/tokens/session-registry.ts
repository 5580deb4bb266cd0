import type { Clock } from "../../lib/clock.ts";
import type { SessionAnswer, SessionKey, SessionRecord } from "../../store/coordination/session-store.ts";
import type { Store } from "../../store/port.ts";

export type { SessionAnswer, SessionRecord };

/** A session and the time at which it expires (ISO 8601). */
export interface RememberedSession extends SessionKey {
  readonly expiresAt: string;
}

/** Shares the state of MCP sessions between all processes on one store. */
export interface SessionRegistry {
  /** Returns undefined for a session without stored state, which is as it was when it was opened. */
  find(session: RememberedSession): Promise<SessionRecord | undefined>;
  /** Ends a session. Later requests under its id are refused. */
  end(session: RememberedSession): Promise<void>;
  /**
   * Makes a stream the only one that notifies the session's client of changes, after a commit.
   * @returns the record before the change
   */
  tellBy(session: RememberedSession, streamId: string, commitNumber: number | undefined): Promise<SessionRecord>;
  /** @param commitNumber - that of the commit after which the client is notified of this resource */
  follow(session: RememberedSession, uri: string, commitNumber: number | undefined): Promise<void>;
  unfollow(session: RememberedSession, uri: string): Promise<void>;
  /** Stores a client's answer for the process that asked. */
  leaveAnswer(session: RememberedSession, answer: SessionAnswer): Promise<void>;
  takeAnswers(callerId: string, questionIds: readonly string[]): Promise<readonly SessionAnswer[]>;
  /** Deletes expired records. */
  sweep(): Promise<void>;
}

/** Limits the stored sessions of one caller: those that follow changes, and all with the ended ones. */
export const sessionBounds = { live: 100, all: 10_000 };
/** Longer than any process waits for an answer. */
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
      await change(session, () => ({ ended: true, streamId: undefined, commitNumber: undefined, followed: [] }));
    },
    async tellBy(session, streamId, commitNumber) {
      let before: SessionRecord | undefined;
      const after = await change(session, (record) => {
        before = record;
        return record.ended ? record : { ...record, streamId, commitNumber };
      });
      return before ?? after;
    },
    async follow(session, uri, commitNumber) {
      await change(session, (record) => {
        const followed = [...new Set(record.followed).add(uri)];
        return record.ended ? record : { ...record, commitNumber: record.commitNumber ?? commitNumber, followed };
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
