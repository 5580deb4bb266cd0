import type { Clock } from "../lib/clock.ts";
import type { Store } from "../store/port.ts";
import type { SessionAnswer, SessionKey, SessionRecord } from "../store/sessions.ts";

export type { SessionAnswer, SessionRecord };

/** A session, and when it ends by itself (ISO time). */
export interface RememberedSession extends SessionKey {
  readonly expiresAt: string;
}

/** What is remembered of MCP sessions, the same for all processes on one store. */
export interface SessionBook {
  /** Nothing where there is nothing to remember: then the session is as it was opened. */
  find(session: RememberedSession): Promise<SessionRecord | undefined>;
  /** From now on nothing counts any more that comes under its name. */
  end(session: RememberedSession): Promise<void>;
  /** Its client is told of changes by this stream and no other. */
  tellBy(session: RememberedSession, streamId: string): Promise<SessionRecord>;
  follow(session: RememberedSession, uri: string): Promise<void>;
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

export function createSessionBook({ sessions }: Pick<Store, "sessions">, clock: Clock): SessionBook {
  function change(session: RememberedSession, work: (record: SessionRecord) => SessionRecord): Promise<SessionRecord> {
    const { callerId, sessionId, expiresAt } = session;
    const at = clock.now().toISOString();
    return sessions.change({ callerId, sessionId }, { at, expiresAt, bounds: sessionBounds }, work);
  }

  return {
    find: ({ callerId, sessionId }) => sessions.find({ callerId, sessionId }),
    async end(session) {
      await change(session, () => ({ ended: true, streamId: undefined, followed: [] }));
    },
    tellBy: (session, streamId) => change(session, (record) => (record.ended ? record : { ...record, streamId })),
    async follow(session, uri) {
      await change(session, (record) =>
        record.ended ? record : { ...record, followed: [...new Set(record.followed).add(uri)] },
      );
    },
    async unfollow(session, uri) {
      await change(session, (record) => ({
        ...record,
        followed: record.followed.filter((followed) => followed !== uri),
      }));
    },
    leaveAnswer: ({ callerId }, answer) => sessions.leaveAnswer(callerId, answer, later(answerMs)),
    takeAnswers: (callerId, questionIds) => sessions.takeAnswers(callerId, questionIds),
    sweep: () => sessions.sweep(clock.now().toISOString(), maxSwept),
  };

  function later(ms: number): string {
    return new Date(clock.now().getTime() + ms).toISOString();
  }
}
