import { existsSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { setTimeout as delay } from "node:timers/promises";
import { Kysely, sql } from "kysely";
import { describe, expect, onTestFinished, test } from "vitest";
import type { Database } from "../../src/store/database.ts";
import { inspectStore, openStore } from "../../src/store/open.ts";
import type { Store, Transaction } from "../../src/store/port.ts";
import { createSqliteDialect } from "../../src/store/sqlite/dialect.ts";
import { openSqlite } from "../../src/store/sqlite/open.ts";
import { createFactory } from "../support/data/seed-factory.ts";
import { listAudit } from "../support/data/state.ts";
import { benchOf, conformance } from "./conformance.ts";
import { entry } from "./ledgers.ts";
import { allApplied, migrations } from "./migrations.ts";
import { processes } from "./processes.ts";

describe("in memory", () => conformance(() => opened(":memory:")));
describe("in a file", () => conformance(() => opened(databaseFile())));

async function opened(database: string, busyTimeoutMs = 5000): Promise<Store> {
  const store = await openStore({ database, busyTimeoutMs });
  onTestFinished(() => store.close());
  return store;
}

function folder(): string {
  const path = mkdtempSync(join(tmpdir(), "programme-store-"));
  onTestFinished(() => rmSync(path, { recursive: true }));
  return path;
}

function databaseFile(): string {
  return join(folder(), "data", "programme.db");
}

/** Runs statements on the file itself. */
function edit(path: string, statements: string): void {
  const db = new DatabaseSync(path);
  db.exec(statements);
  db.close();
}

const modeOf = (path: string) => statSync(path).mode & 0o777;

describe("the file", () => {
  test("is readable by its owner only, with its folder and companion files", async () => {
    const path = databaseFile();
    const { seed } = benchOf(await opened(path));
    await seed.program();
    expect(modeOf(dirname(path))).toBe(0o700);
    const files = readdirSync(dirname(path));
    expect(files).toEqual(expect.arrayContaining(["programme.db", "programme.db-wal"]));
    expect(files.map((file) => modeOf(join(dirname(path), file)))).toEqual(files.map(() => 0o600));
  });

  test("keeps rows, cursors and secrets beyond a restart", async () => {
    const path = databaseFile();
    const before = await openStore({ database: path });
    const { seed } = benchOf(before);
    const programs = [await seed.program(), await seed.program()];
    const page = await before.reader("biz_one").page("programs", {}, "newest", { limit: 1 });
    const secret = await before.secret("links");
    await before.close();
    const after = await opened(path);
    const { lastEvaluatedKey } = page;
    const next = await after.reader("biz_one").page("programs", {}, "newest", { limit: 1, lastEvaluatedKey });
    expect([...page.rows, ...next.rows].reverse()).toEqual(programs);
    expect(await after.secret("links")).toEqual(secret);
    expect(await (await opened(databaseFile())).secret("links")).not.toEqual(secret);
  });

  test("has a write-ahead log and foreign keys", async () => {
    const db = kysely(join(folder(), "programme.db"));
    const pragma = async (name: string) => (await sql`${sql.raw(`pragma ${name}`)}`.execute(db)).rows[0];
    expect(await pragma("journal_mode")).toEqual({ journal_mode: "wal" });
    expect(await pragma("synchronous")).toEqual({ synchronous: 1 });
    expect(await pragma("foreign_keys")).toEqual({ foreign_keys: 1 });
  });

  test("a database URL is not accepted as a path", async () => {
    await expect(openStore({ database: "mysql://host/x" })).rejects.toThrow(/mysql is not supported/);
    await expect(inspectStore({ database: "mysql://host/x" })).rejects.toThrow(/mysql is not supported/);
    expect(existsSync("mysql:")).toBe(false);
  });

  test("a file that is not a database is left unchanged", async () => {
    const path = join(folder(), "notes.txt");
    writeFileSync(path, "Not a database, and longer than its header would be: ".repeat(40));
    const { size } = statSync(path);
    await expect(openStore({ database: path })).rejects.toThrow(/not a database/);
    expect(statSync(path).size).toBe(size);
  });
});

describe("migrations", () => {
  test("are listed before and after they run, and listing changes nothing", async () => {
    const path = databaseFile();
    expect(await inspectStore({ database: path })).toEqual({
      applied: [],
      pending: migrations,
      unknown: [],
      incompatible: [],
    });
    expect(existsSync(path)).toBe(false);
    await (await openStore({ database: path })).close();
    expect(await inspectStore({ database: path })).toEqual(allApplied);
  });

  test("of a later version prevent this version from starting", async () => {
    const path = databaseFile();
    await (await openStore({ database: path })).close();
    edit(path, "insert into migrations (name, \"appliedAt\") values ('999_later', '2030-01-01T00:00:00.000Z')");
    await expect(openStore({ database: path })).rejects.toThrow(/later version.*999_later/);
    expect(await inspectStore({ database: path })).toMatchObject({ unknown: ["999_later"] });
  });

  test("that fail leave nothing behind", async () => {
    const path = join(folder(), "programme.db");
    edit(path, "create table permits (x text)");
    await expect(openStore({ database: path })).rejects.toThrow(/permits/);
    expect(await inspectStore({ database: path })).toMatchObject({ applied: [] });
    const db = new DatabaseSync(path);
    expect(db.prepare("select name from sqlite_master where type = 'table'").all()).toEqual([{ name: "permits" }]);
    db.close();
  });
});

describe("several processes on one file", () => processes(async () => databaseFile()));

describe("waiting", () => {
  const busy = { code: "unavailable", details: { retryAfterSeconds: 1 } };
  /** Long enough for the process to make progress and to commit, on a busy machine. */
  const busyTimeoutMs = 1_000;

  test.each([
    ["this process", false],
    ["another connection", true],
  ])("for a transaction of %s ends with a retryable refusal", async (_, apart) => {
    const path = databaseFile();
    const waiting = await opened(path, busyTimeoutMs);
    const holder = apart ? await opened(path) : waiting;
    let ticks = 0;
    const timer = setInterval(() => ticks++, 5);
    onTestFinished(() => clearInterval(timer));
    await benchOf(holder).write(async () => {
      await expect(benchOf(waiting).seed.program()).rejects.toMatchObject(busy);
    });
    // The process goes on during the wait.
    expect(ticks).toBeGreaterThan(3);
    await expect(benchOf(waiting).seed.program()).resolves.toMatchObject({ version: 0 });
  });

  test("for a transaction of another connection ends when that transaction ends", async () => {
    const path = databaseFile();
    const [holder, waiting] = [await opened(path), await opened(path)];
    const { promise: released, resolve: release } = Promise.withResolvers<void>();
    const holding = benchOf(holder).write(async (transaction) => {
      await transaction.count("programs", {});
      await released;
    });
    await new Promise((resolve) => setTimeout(resolve, 20));
    const ended: string[] = [];
    const inserting = waiting.insertBusiness({
      businessId: "biz_new",
      name: "New",
      createdAt: "2026-11-20T09:00:00.000Z",
    });
    void inserting.then(() => ended.push("statement"));
    await new Promise((resolve) => setTimeout(resolve, 100));
    ended.push("transaction");
    release();
    await Promise.all([holding, inserting]);
    expect(ended).toEqual(["transaction", "statement"]);
  });

  test("for a connection whose long transactions follow each other without pause ends", async () => {
    const path = databaseFile();
    const waiting = await opened(path);
    const busyEngine = await openSqlite({ database: path, busyTimeoutMs: 60_000 });
    onTestFinished(() => busyEngine.close());
    let isDone = false;
    onTestFinished(() => {
      isDone = true;
    });
    const keepBusy = async () => {
      while (!isDone) await busyEngine.transactRelaxed(() => delay(50));
    };
    const both = [keepBusy(), keepBusy()];
    await delay(20);
    for (let count = 0; count < 3; count += 1) await benchOf(waiting).seed.program();
    isDone = true;
    await Promise.all(both);
  });

  test("to write access entries does not block the process, and refused entries can be written later", async () => {
    const path = databaseFile();
    const [waiting, holder] = [await opened(path, busyTimeoutMs), await opened(path)];
    const entries = Array.from({ length: 500 }, () => entry({ action: "submission.read", status: 200, changes: [] }));
    let ticks = 0;
    const timer = setInterval(() => ticks++, 5);
    onTestFinished(() => clearInterval(timer));
    await benchOf(holder).write(async () => {
      await expect(waiting.appendAccess(entries)).rejects.toThrow("locked");
    });
    expect(ticks).toBeGreaterThan(3);
    expect(await listAudit(waiting, "biz_one", "submission.read")).toEqual([]);
    await Promise.all([waiting.appendAccess(entries), benchOf(holder).seed.program()]);
    expect(await listAudit(holder, "biz_one", "submission.read")).toHaveLength(entries.length);
  });

  test("for invalid access entries ends with their error, and other entries are written", async () => {
    const store = await opened(databaseFile());
    const entries = (action: string) => Array.from({ length: 250 }, () => entry({ action, status: 200, changes: [] }));
    const bad = entries("submission.read").with(249, { ...entry({ status: 200 }), requestId: null as never });
    await expect(store.appendAccess(bad)).rejects.toThrow("NOT NULL");
    await store.appendAccess(entries("program.read"));
    expect(await listAudit(store, "biz_one", "submission.read")).toEqual([]);
    expect(await listAudit(store, "biz_one", "program.read")).toHaveLength(250);
  });
});

describe("a tenant that changes much", () => {
  /** Reads for longer than a transaction may keep others waiting. */
  async function readLong(transaction: Transaction): Promise<void> {
    for (let reads = 0; reads < 500; reads += 1) await transaction.count("programs", {});
  }

  test("lets other requests be answered during a long transaction", async () => {
    const store = await opened(databaseFile());
    const { write } = benchOf(store);
    const ended: string[] = [];
    const changing = write(readLong).then(() => ended.push("transaction"));
    await new Promise((resolve) => setImmediate(resolve));
    await store.reader("biz_two").count("programs", {});
    ended.push("read");
    await changing;
    expect(ended).toEqual(["read", "transaction"]);
  });

  test("runs no statement of a long transaction after it was rolled back", async () => {
    const store = await opened(databaseFile());
    const { write } = benchOf(store);
    let late: Promise<unknown> = Promise.resolve();
    const writing = write(async (transaction) => {
      const { program } = createFactory((work) => work(transaction));
      const before = await program();
      late = readLong(transaction).then(() => program());
      late.catch(() => undefined);
      await transaction.update("programs", { ...before, version: 7 }, { name: "Other" });
    });
    await expect(writing).rejects.toThrow();
    await expect(late).rejects.toThrow(/transaction has ended|already rolled back/);
    expect(await store.reader("biz_one").count("programs", {})).toBe(0);
  });

  test("lets access entries be written between its transactions", async () => {
    const store = await opened(databaseFile());
    const { seed } = benchOf(store);
    const entries = Array.from({ length: 500 }, () => entry({ action: "submission.read", status: 200, changes: [] }));
    let transactions = 0;
    let isWritten = false;
    const change = async () => {
      for (; !isWritten && transactions < 500; transactions += 1) await seed.program();
    };
    const changing = [change(), change()];
    await store.appendAccess(entries);
    isWritten = true;
    await Promise.all(changing);
    expect(transactions).toBeLessThan(10);
  });
});

function kysely(path: string): Kysely<Database> {
  const db = new Kysely<Database>({ dialect: createSqliteDialect({ path, role: "write", busyTimeoutMs: 100 }) });
  onTestFinished(() => db.destroy());
  return db;
}

describe("a transaction that the database rolled back", () => {
  async function table(): Promise<Kysely<Database>> {
    const db = kysely(":memory:");
    await sql`create table t (a text)`.execute(db);
    return db;
  }
  const rowsIn = async (db: Kysely<Database>) => (await db.selectFrom("t").selectAll().execute()).length;

  test("fails with the cause", async () => {
    const db = await table();
    const cause = new Error("cause");
    const work = db.transaction().execute(async (transaction) => {
      await transaction.insertInto("t").values({ a: "1" }).execute();
      await sql`rollback`.execute(transaction);
      throw cause;
    });
    await expect(work).rejects.toBe(cause);
    expect(await rowsIn(db)).toBe(0);
  });

  test("writes nothing more and does not commit", async () => {
    const db = await table();
    const work = db.transaction().execute(async (transaction) => {
      await sql`rollback`.execute(transaction);
      await expect(transaction.insertInto("t").values({ a: "1" }).execute()).rejects.toThrow(/rolled/);
    });
    await expect(work).rejects.toThrow(/rolled/);
    expect(await rowsIn(db)).toBe(0);
    await db.transaction().execute((transaction) => transaction.insertInto("t").values({ a: "2" }).execute());
    expect(await rowsIn(db)).toBe(1);
  });

  test("because of a full disk does not block the next one", async () => {
    const db = await table();
    const { page_count } = (await sql<{ page_count: number }>`pragma page_count`.execute(db)).rows[0] as {
      page_count: number;
    };
    await sql`${sql.raw(`pragma max_page_count = ${page_count + 4}`)}`.execute(db);
    const work = db.transaction().execute((transaction) =>
      transaction
        .insertInto("t")
        .values({ a: "x".repeat(100_000) })
        .execute(),
    );
    const details = { retryAfterSeconds: 60 };
    await expect(work).rejects.toMatchObject({ code: "unavailable", message: "The database's disk is full.", details });
    await db.transaction().execute((transaction) => transaction.insertInto("t").values({ a: "x" }).execute());
    expect(await rowsIn(db)).toBe(1);
  });
});

test("parameters can be booleans, and more statements can be prepared than the cache holds", async () => {
  const db = kysely(":memory:");
  const truth = await sql<{ yes: number }>`select ${true} as yes`.execute(db);
  expect(truth.rows).toEqual([{ yes: 1 }]);
  for (let n = 0; n < 1200; n++) {
    const { rows } = await sql<{ n: number }>`select ${sql.lit(n)} as n`.execute(db);
    expect(rows).toEqual([{ n }]);
  }
});

test("a query can be streamed", async () => {
  const db = kysely(":memory:");
  await sql`create table t (a integer)`.execute(db);
  for (const a of [1, 2, 3]) await db.insertInto("t").values({ a }).execute();
  const seen: unknown[] = [];
  for await (const { a } of db.selectFrom("t").select("a").orderBy("a").stream()) seen.push(a);
  expect(seen).toEqual([1, 2, 3]);
});
