import { CompiledQuery, Kysely } from "kysely";
import { expect, onTestFinished, test } from "vitest";
import { scopes } from "../../src/contract/access/scopes.ts";
import { listVisibleKinds } from "../../src/contract/event-log.ts";
import { type Database, eventSource } from "../../src/store/database.ts";
import * as records from "../../src/store/migrations/001_records.ts";
import * as confirmations from "../../src/store/migrations/002_confirmations.ts";
import * as webhooks from "../../src/store/migrations/003_webhooks.ts";
import * as eventLog from "../../src/store/migrations/008_event_log.ts";
import { migrateDatabase } from "../../src/store/migrations/migrate.ts";
import { openStore } from "../../src/store/open.ts";
import type { Store } from "../../src/store/port.ts";
import { selectStep } from "../../src/store/queries/query.ts";
import { createSqliteDialect } from "../../src/store/sqlite/dialect.ts";
import { temporaryDirectory } from "../support/processes/directory.ts";
import { createEvent, type SentEvent } from "./event-sender.ts";

const kinds = listVisibleKinds(new Set(scopes));
const startMs = Date.parse("2026-11-20T09:00:00.000Z");
const at = (ms: number) => new Date(startMs + ms).toISOString();
const wide = { notBefore: at(-1e10), maxEvents: 1_000_000 };

async function open(): Promise<Store> {
  const store = await openStore({ database: ":memory:" });
  onTestFinished(() => store.close());
  return store;
}

const sent = (ms = 0, data = {}) => ({
  ...createEvent("submission.submitted", new Date(startMs + ms), data),
  webhook: "crm",
});

async function own(store: Store, event: SentEvent): Promise<void> {
  const actor = { businessId: "biz_one", actorId: "usr_1", now: event.timestamp };
  await store.transaction(actor, (transaction) => transaction.appendEvents([event as never]));
}

async function idsIn(store: Store, businessId = "biz_one"): Promise<string[]> {
  const { rows } = await store.reader(businessId).pageEvents({ kinds }, { limit: 1_000 });
  return rows.map(({ eventId }) => eventId);
}

test("the event log has a maximum length and age", async () => {
  const store = await open();
  const events = Array.from({ length: 12 }, (_, index) => sent(index * 1_000));
  for (const [index, event] of events.entries()) {
    await store.inbox.keep("biz_one", event, at(index * 1_000), { notBefore: at(-1e6), maxEvents: 10 });
  }
  expect(await idsIn(store)).toEqual(
    events
      .slice(2)
      .map(({ eventId }) => eventId)
      .toReversed(),
  );
  const late = sent(100_000);
  await store.inbox.keep("biz_one", late, at(100_000), { notBefore: at(8_000), maxEvents: 10 });
  expect(await idsIn(store)).toEqual([late, ...events.slice(8).toReversed()].map(({ eventId }) => eventId));
});

test("one organisation's events do not use up another's log", async () => {
  const store = await open();
  const event = sent();
  for (let index = 0; index < 20; index++) {
    await store.inbox.keep("biz_two", sent(), at(index), { ...wide, maxEvents: 5 });
  }
  expect(await store.inbox.keep("biz_two", event, at(30), { ...wide, maxEvents: 5 })).toBe(true);
  expect(await store.inbox.keep("biz_one", event, at(0), wide)).toBe(true);
  expect(await store.inbox.keep("biz_one", event, at(0), wide)).toBe(false);
  expect([await idsIn(store), (await idsIn(store, "biz_two")).length]).toEqual([[event.eventId], 5]);
});

test("events are ordered by arrival, so that a follower misses none", async () => {
  const store = await open();
  const expected: string[] = [];
  for (const ms of [5_000, 1_000, 5_000, 0, 9_000, 9_000]) {
    const event = sent(ms);
    expected.push(event.eventId);
    await store.inbox.keep("biz_one", event, at(ms), wide);
  }
  const reader = store.reader("biz_one");
  const { rows } = await reader.pageEvents({ kinds, since: at(-1) }, { limit: 100 });
  expect(rows.map(({ eventId }) => eventId)).toEqual(expected);
  expect(new Set(rows.map(({ receivedAt }) => receivedAt)).size).toBe(6);
  const seen: string[] = [];
  let since = at(-1);
  for (let round = 0; round < 6; round++) {
    const page = await reader.pageEvents({ kinds, since }, { limit: 2 });
    seen.push(...page.rows.map(({ eventId }) => eventId));
    since = page.rows.at(-1)?.receivedAt ?? since;
  }
  expect([...new Set(seen)]).toEqual(expected);
});

test("a list continues from its cursor while events are written", async () => {
  const store = await open();
  const write = async (index: number) => {
    const event = sent(index * 10);
    if (index % 3) await store.inbox.keep("biz_one", event, at(index * 10), wide);
    else await own(store, event);
    return event.eventId;
  };
  const before: string[] = [];
  for (let index = 0; index < 30; index++) before.push(await write(index));
  const seen: string[] = [];
  let lastEvaluatedKey: string | undefined;
  let index = 30;
  do {
    const page = await store.reader("biz_one").pageEvents({ kinds }, { limit: 4, lastEvaluatedKey });
    seen.push(...page.rows.map(({ eventId }) => eventId));
    lastEvaluatedKey = page.lastEvaluatedKey;
    await write(index++);
  } while (lastEvaluatedKey !== undefined);
  expect(seen).toEqual(before.toReversed());
});

const database = async () => {
  const db = new Kysely<Database>({
    dialect: createSqliteDialect({ path: ":memory:", role: "write", busyTimeoutMs: 0 }),
  });
  onTestFinished(() => db.destroy());
  return db;
};

test("every list follows an index in its order on both sides, from the start and from a cursor", async () => {
  const db = await database();
  await migrateDatabase({ transactExclusively: (work) => db.transaction().execute(work) });
  for (const where of [{}, { submissionId: "sub" }, { eventType: "review.submitted" }, { at: { gte: at(0) } }]) {
    for (const after of [undefined, [at(1), "evt_1"]]) {
      const sort = { column: "at", descending: !("at" in where) };
      const query = { where: { ...where, kind: kinds } };
      const { sql, parameters } = selectStep(db, eventSource, "biz", query, { sort, limit: 51, after }).compile();
      const { rows } = await db.executeQuery<{ detail: string }>(
        CompiledQuery.raw(`explain query plan ${sql}`, [...parameters]),
      );
      const plan = rows.map(({ detail }) => detail).join("\n");
      expect(plan).toContain("MERGE (UNION ALL)");
      expect(plan).not.toMatch(/TEMP B-TREE|SCAN/);
      if ("submissionId" in where) expect(plan.match(/submissionId=\?/g)).toHaveLength(2);
    }
  }
});

test("events from before the migration are found by submission", async () => {
  const directory = await temporaryDirectory();
  onTestFinished(() => directory.remove());
  const path = `${directory.path}/programme.db`;
  const db = new Kysely<Database>({ dialect: createSqliteDialect({ path, role: "write", busyTimeoutMs: 0 }) });
  for (const { up } of [records, confirmations, webhooks]) await up(db);
  const events = Array.from({ length: 1_203 }, (_, index) =>
    index % 2
      ? sent(index, { submissionId: `sub_${index % 7}` })
      : createEvent("applicant.registered", new Date(startMs + index)),
  );
  for (const [index, event] of events.entries()) {
    const { eventId, eventType, timestamp } = event;
    const row = { businessId: `biz_${index % 2}`, position: index, eventId, eventType, timestamp };
    await db
      .insertInto("events")
      .values({ ...row, payload: JSON.stringify(event) })
      .execute();
  }
  await eventLog.up(db);
  const { rows } = await db.executeQuery<{ n: number }>(
    CompiledQuery.raw(`select count(*) as n from "eventLog" where "businessId" = 'biz_1' and "submissionId" = 'sub_3'`),
  );
  expect(Number(rows[0]?.n)).toBe(events.filter(({ data }) => data["submissionId"] === "sub_3").length);
  const none = await db.executeQuery<{ n: number }>(
    CompiledQuery.raw(`select count(*) as n from "events" where "businessId" = 'biz_0' and "submissionId" is not null`),
  );
  expect(Number(none.rows[0]?.n)).toBe(0);
  await db.destroy();
});
