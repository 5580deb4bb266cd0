import { beforeAll, describe, expect, inject, onTestFinished, test } from "vitest";
import { issueToken } from "../../src/app/access/issue-token.ts";
import type { Scope } from "../../src/contract/access/scopes.ts";
import type { Db } from "../../src/store/database.ts";
import { type Migrations, migrateDatabase, migrations } from "../../src/store/migrations/migrate.ts";
import { inspectStore, openEngine, openStore } from "../../src/store/open.ts";
import { createSqlStore } from "../../src/store/sql-store.ts";
import { createFactory } from "../support/data/seed-factory.ts";
import { type Databases, openDatabases } from "../support/database/database-server.ts";
import { temporaryDirectory } from "../support/processes/directory.ts";
import { startProcess } from "../support/processes/processes.ts";

let databases: Databases;

beforeAll(async () => {
  databases = await openDatabases({ given: inject("postgres"), isolation: inject("isolation") });
  return () => databases.stop();
});

async function fresh(engine: string, kind: "copy" | "empty" = "copy"): Promise<string> {
  const { path, remove } = await temporaryDirectory();
  const made = engine === "SQLite" ? undefined : await databases[kind]();
  onTestFinished(async () => {
    await made?.remove();
    await remove();
  });
  return made?.database ?? `${path}/programme.db`;
}

const latest = Object.keys(migrations).at(-1) as string;

/** The first step of a later version: a column that old programs do not fill, a table and an index. */
const expand = {
  since: latest,
  async up(db: Db) {
    await db.schema.alterTable("programs").addColumn("motto", "text").execute();
    await db.schema.createIndex("programs_index_motto").on("programs").columns(["businessId", "motto"]).execute();
    const table = db.schema.createTable("mottos").addColumn("businessId", "text").addColumn("motto", "text");
    await table.addPrimaryKeyConstraint("mottos_key", ["businessId", "motto"]).execute();
  },
};

/** Its second step, with which programs that do not know the first cannot work. */
const contract = {
  since: "900_expand",
  async up(db: Db) {
    await db.schema.alterTable("programs").dropColumn("description").execute();
  },
};

async function migrateTo(database: string, later: Migrations): Promise<void> {
  const engine = await openEngine({ database });
  await migrateDatabase(engine, { ...migrations, ...later });
  await engine.close();
}

/** Creates a database of an earlier version, with a row in each of some tables. */
async function createEarlier(
  database: string,
  last: string,
  rows: Readonly<Record<string, Readonly<Record<string, unknown>>>>,
): Promise<void> {
  const engine = await openEngine({ database });
  await migrateDatabase(engine, Object.fromEntries(Object.entries(migrations).filter(([name]) => name <= last)));
  for (const [table, row] of Object.entries(rows)) await engine.write.insertInto(table).values(row).execute();
  await engine.close();
}

const business = { businessId: "biz_one", name: "One", createdAt: "2026-01-01T00:00:00.000Z" };

describe.each(["SQLite", "PostgreSQL"])("on %s", (engine) => {
  test("processes of this version and of the next one work side by side while it is rolled out", async () => {
    const database = await fresh(engine);
    const store = await openStore({ database });
    await store.insertBusiness(business);
    const scopes: readonly Scope[] = ["programs:read", "persons:read", "persons:write"];
    const { token } = await issueToken(store, { businessId: "biz_one", name: "test", scopes, expiresAt: null });
    await store.close();
    const settings = { PROGRAMME_REQUESTS_PER_MINUTE: "1000000" };
    const origins = [(await startProcess(database, settings)).origin];

    let [working, done] = [true, 0];
    const failures: unknown[] = [];
    const made = new Set<string>();
    const work = async () => {
      while (working) {
        const origin = origins[done % origins.length] as string;
        done += 1;
        const created = await request(origin, token, "/persons", {
          kinds: ["contact"],
          provenance: { source: "crm" },
          primaryEmail: `person${done}@example.org`,
        });
        if (created.status !== 201) failures.push(created);
        else made.add(created.answer.data.personId);
        const listed = await request(origin, token, "/programs?limit=5");
        if (listed.status !== 200) failures.push(listed);
      }
    };
    const workers = [work(), work(), work()];
    const until = async (count: number) => {
      for (const target = done + count; done < target; ) await new Promise((resolve) => setTimeout(resolve, 5));
    };
    await until(20);

    // The next version comes: it migrates, works, and what is of this version goes on, also what starts only now.
    const later = await openEngine({ database });
    onTestFinished(() => later.close());
    await migrateDatabase(later, { ...migrations, "900_expand": expand });
    const next = await createSqlStore(later);
    const write = { businessId: "biz_one", actorId: "usr_next" };
    const program = createFactory((run) => next.transaction({ ...write, now: new Date().toISOString() }, run)).program;
    for (let count = 0; count < 5; count++) await program();
    await later.write.updateTable("programs").set({ motto: "Light" }).execute();
    origins.push((await startProcess(database, settings)).origin);
    await until(20);
    for (let count = 0; count < 5; count++) await program();
    await until(20);
    working = false;
    await Promise.all(workers);

    expect(failures).toEqual([]);
    const persons = await Promise.all([...made].map((personId) => next.reader("biz_one").get("persons", personId)));
    expect(persons.every((person) => person !== undefined)).toBe(true);
    const shown = await request(origins[1] as string, token, "/programs?limit=100");
    expect(shown.answer.data).toHaveLength(10);
    expect(JSON.stringify(shown.answer)).not.toContain("motto");
    await expect(next.check()).resolves.toBe("ok");
  });

  test("a database with the earlier names of commit numbers keeps its numbers", async () => {
    const database = await fresh(engine, "empty");
    const at = business.createdAt;
    const change = {
      action: "program.updated",
      entityType: "program",
      actorType: "user",
      actorId: "usr",
      kind: "change",
    };
    const [businessId, payload] = [business.businessId, JSON.stringify({ eventId: "evt_1" })];
    const received = { webhook: "crm", eventType: "review.submitted", kind: "review", timestamp: at, receivedAt: at };
    await createEarlier(database, "013_audit_lookup", {
      businesses: business,
      turns: { businessId, turn: 7 },
      audit: { businessId, auditId: "aud_1", ...change, requestId: "req_1", changes: "[]", occurredAt: at, turn: 6 },
      receivedEvents: { businessId, eventId: "evt_1", ...received, payload, position: 1, turn: 7 },
      sessions: { callerId: "tok", sessionId: "ses", ended: 0, turn: 5, followed: "[]", changedAt: at, expiresAt: at },
    });
    const store = await openStore({ database });
    onTestFinished(() => store.close());
    const reader = store.reader(businessId);
    expect(await reader.lastCommitNumber()).toBe(7);
    expect(await reader.changesAfter(5, 10)).toMatchObject([{ auditId: "aud_1", commitNumber: 6 }]);
    expect(await reader.changesAfter(6, 10)).toEqual([]);
    expect(await reader.eventsAfter(6, 10)).toMatchObject([{ eventId: "evt_1", commitNumber: 7 }]);
    await createFactory((run) => store.transaction({ businessId, actorId: "usr", now: at }, run)).program();
    expect(await reader.lastCommitNumber()).toBe(8);
    expect(await inspectStore({ database })).toMatchObject({ pending: [], incompatible: [] });
  });

  test("a program that a later step is beyond does not start, and changes nothing", async () => {
    const database = await fresh(engine);
    await (await openStore({ database })).close();
    await migrateTo(database, { "900_expand": expand });
    await (await openStore({ database })).close();
    expect(await inspectStore({ database })).toMatchObject({ unknown: ["900_expand"], incompatible: [] });
    await migrateTo(database, { "900_expand": expand, "901_contract": contract });
    await expect(openStore({ database })).rejects.toThrow(/later version.*\(901_contract\)/);
    expect(await inspectStore({ database })).toMatchObject({
      pending: [],
      unknown: ["900_expand", "901_contract"],
      incompatible: ["901_contract"],
    });
  });
});

interface Reply {
  readonly status: number;
  // biome-ignore lint/suspicious/noExplicitAny: tests read answers without their types
  readonly answer: any;
}

async function request(origin: string, token: string, path: string, body?: unknown): Promise<Reply> {
  const response = await fetch(`${origin}/integrations/v1${path}`, {
    method: body === undefined ? "GET" : "POST",
    headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  return { status: response.status, answer: await response.json() };
}
