import { type Db, prepareQuery } from "../database.ts";
import { type Engine, forUpdate, type Transact } from "../engine.ts";
import { createRecordCache } from "../record-cache.ts";
import type { SessionBounds, SessionKey, SessionRecord, SessionStore } from "./session-store.ts";

/** Maximum number of cached sessions. */
const maxKnown = 1_000;
const columns = ["ended", "streamId", "commitNumber", "followed"] as const;
/** Maximum number of records that one change deletes. */
const maxForgotten = 100;

export function createSessionStore(engine: Pick<Engine, "read" | "transactRelaxed" | "revision">): SessionStore {
  const { read, transactRelaxed: transact, revision } = engine;
  const byKey = prepareQuery(
    read
      .selectFrom("sessions")
      .select([...columns])
      .where("callerId", "=", "")
      .where("sessionId", "=", ""),
  );
  const remember = createRecordCache<SessionRecord | undefined>(revision, maxKnown, () => true);

  return {
    find: ({ callerId, sessionId }) =>
      remember(`${callerId} ${sessionId}`, async () => {
        const [row] = (await byKey(read, callerId, sessionId)).rows;
        return row && toSessionRecord(Object.fromEntries(columns.map((name, index) => [name, row[index]])));
      }),

    change: (key, { at, expiresAt, bounds }, work) =>
      transact(async (db) => {
        const made = await makeRecord(db, key, at, expiresAt);
        const own = db.selectFrom("sessions").select([...columns]);
        const row = await forUpdate(db, matchSession(own, key)).executeTakeFirstOrThrow();
        const record = work(toSessionRecord(row));
        const { ended, streamId = null, commitNumber = null, followed } = record;
        const values = {
          ended: Number(ended),
          streamId,
          commitNumber,
          followed: JSON.stringify(followed),
          changedAt: at,
        };
        await matchSession(db.updateTable("sessions").set(values), key).execute();
        if (made) await forgetOldest(db, key.callerId, bounds);
        return record;
      }),

    async leaveAnswer(callerId, { questionId, answer }, expiresAt) {
      await transact((db) =>
        db
          .insertInto("sessionAnswers")
          .values({ callerId, questionId, answer, expiresAt })
          .onConflict((conflict) => conflict.columns(["callerId", "questionId"]).doNothing())
          .execute(),
      );
    },

    async takeAnswers(callerId, questionIds) {
      const wanted = read.selectFrom("sessionAnswers").select("questionId").where("callerId", "=", callerId);
      // Polled often and mostly without a result, so it must not take the write lock.
      const found = await wanted.where("questionId", "in", [...questionIds]).execute();
      if (found.length === 0) return [];
      const ids = found.map((row) => row["questionId"]);
      const rows = await transact((db) => {
        const taken = db.deleteFrom("sessionAnswers").where("callerId", "=", callerId).where("questionId", "in", ids);
        return taken.returning(["questionId", "answer"]).execute();
      });
      return rows.map((row) => ({ questionId: String(row["questionId"]), answer: String(row["answer"]) }));
    },

    sweep: async (now, limit) => {
      await sweepTable(read, transact, { table: "sessions", id: "sessionId" }, now, limit);
      await sweepTable(read, transact, { table: "sessionAnswers", id: "questionId" }, now, limit);
    },
  };
}

interface Swept {
  readonly table: string;
  /** The column that identifies a row together with the caller. */
  readonly id: string;
}

async function sweepTable(read: Db, transact: Transact, { table, id }: Swept, now: string, limit: number) {
  const expired = read.selectFrom(table).select(["callerId", id]).where("expiresAt", "<=", now);
  const rows = await expired.orderBy("callerId").orderBy(id).limit(limit).execute();
  for (const [callerId, own] of Map.groupBy(rows, (row) => String(row["callerId"]))) {
    const ids = own.map((row) => row[id]);
    await transact((db) => db.deleteFrom(table).where("callerId", "=", callerId).where(id, "in", ids).execute());
  }
}

/** Creates the record of a session if it has none. Returns whether it did. */
async function makeRecord(db: Db, key: SessionKey, at: string, expiresAt: string): Promise<boolean> {
  const { numInsertedOrUpdatedRows } = await db
    .insertInto("sessions")
    .values({ ...key, ended: 0, streamId: null, commitNumber: null, followed: "[]", changedAt: at, expiresAt })
    .onConflict((conflict) => conflict.columns(["callerId", "sessionId"]).doNothing())
    .executeTakeFirstOrThrow();
  return numInsertedOrUpdatedRows === 1n;
}

async function forgetOldest(db: Db, callerId: string, { live, all }: SessionBounds): Promise<void> {
  const own = db.selectFrom("sessions").select("sessionId").where("callerId", "=", callerId);
  const newestFirst = own.orderBy("changedAt", "desc").orderBy("sessionId", "desc").limit(maxForgotten);
  for (const beyond of [newestFirst.where("ended", "=", 0).offset(live), newestFirst.offset(all)]) {
    const ids = (await beyond.execute()).map((row) => row["sessionId"]);
    if (ids.length === 0) continue;
    await db.deleteFrom("sessions").where("callerId", "=", callerId).where("sessionId", "in", ids).execute();
  }
}

interface Conditional<Q> {
  where(column: string, operator: "=", value: string): Q;
}

function matchSession<Q extends Conditional<Q>>(query: Q, { callerId, sessionId }: SessionKey): Q {
  return query.where("callerId", "=", callerId).where("sessionId", "=", sessionId);
}

function toSessionRecord({
  ended,
  streamId,
  commitNumber,
  followed,
}: Readonly<Record<string, unknown>>): SessionRecord {
  return {
    ended: Number(ended) === 1,
    streamId: typeof streamId === "string" ? streamId : undefined,
    commitNumber: commitNumber === null ? undefined : Number(commitNumber),
    followed: JSON.parse(String(followed)) as readonly string[],
  };
}
