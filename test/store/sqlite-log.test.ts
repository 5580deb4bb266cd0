import { copyFileSync, mkdtempSync, rmSync } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { setTimeout as delay } from "node:timers/promises";
import { sql } from "kysely";
import { expect, type MockInstance, onTestFinished, test, vi } from "vitest";
import type { Db } from "../../src/store/database.ts";
import type { Transact } from "../../src/store/engine.ts";
import { openSqlite } from "../../src/store/sqlite/open.ts";

async function openEngine(busyTimeoutMs = 5_000) {
  const folder = mkdtempSync(join(tmpdir(), "programme-log-"));
  const path = join(folder, "test.db");
  const engine = await openSqlite({ database: path, busyTimeoutMs });
  onTestFinished(async () => {
    await engine.close();
    rmSync(folder, { recursive: true });
  });
  await engine.transact((db) => sql`create table notes (text text)`.execute(db));
  return { engine, path };
}

const write = (text: string) => (db: Db) => sql`insert into notes values (${text})`.execute(db);

async function listNotes(db: Db): Promise<string[]> {
  return (await sql<{ text: string }>`select text from notes`.execute(db)).rows.map(({ text }) => text);
}

/** Replaces the wait for the disk. */
async function spyOnDisk(): Promise<MockInstance<FileHandle["datasync"]>> {
  const handle = await open("/dev/null");
  const spy = vi.spyOn(Object.getPrototypeOf(handle) as FileHandle, "datasync");
  onTestFinished(() => spy.mockRestore());
  await handle.close();
  return spy;
}

const diskError = () => Object.assign(new Error("EIO: i/o error, fdatasync"), { code: "EIO" });

test("a commit of SQLite waits until the disk has it, and reads do not wait", async () => {
  const { engine } = await openEngine();
  const disk = await spyOnDisk();
  const { promise, resolve } = Promise.withResolvers<void>();
  disk.mockReturnValueOnce(promise);
  let isConfirmed = false;
  const commit = engine.transact(write("one")).then(() => {
    isConfirmed = true;
  });
  await vi.waitFor(() => expect(disk).toHaveBeenCalledTimes(1));
  expect(await listNotes(engine.read)).toEqual(["one"]);
  expect(isConfirmed).toBe(false);
  resolve();
  await commit;
});

test("closing waits for a disk that takes longer than any call waits", async () => {
  const { engine } = await openEngine(20);
  await sql`select 1`.execute(engine.write);
  const disk = await spyOnDisk();
  const { promise, resolve } = Promise.withResolvers<void>();
  disk.mockReturnValueOnce(promise);
  const commit = engine.transact(write("one"));
  await vi.waitFor(() => expect(disk).toHaveBeenCalledTimes(1));
  const closing = engine.close();
  await delay(100);
  resolve();
  await Promise.all([commit, closing]);
});

test("commits that come while the disk is busy share one wait", async () => {
  const { engine } = await openEngine();
  const disk = await spyOnDisk();
  const { promise, resolve } = Promise.withResolvers<void>();
  disk.mockReturnValueOnce(promise);
  const first = engine.transact(write("first"));
  await vi.waitFor(() => expect(disk).toHaveBeenCalledTimes(1));
  const others = Promise.all(["a", "b", "c"].map((text) => engine.transact(write(text))));
  await vi.waitFor(async () => expect(await listNotes(engine.read)).toEqual(["first", "a", "b", "c"]));
  expect(disk).toHaveBeenCalledTimes(1);
  resolve();
  await Promise.all([first, others]);
  expect(disk).toHaveBeenCalledTimes(2);
});

test("a statement outside a transaction waits for the disk too", async () => {
  const { engine } = await openEngine();
  const disk = await spyOnDisk();
  await write("one")(engine.write);
  expect(disk).toHaveBeenCalledTimes(1);
});

test("a relaxed commit and a transaction that is rolled back do not wait for the disk", async () => {
  const { engine } = await openEngine();
  const disk = await spyOnDisk();
  await engine.transactRelaxed(write("one"));
  const failing = engine.transact(async (db) => {
    await write("two")(db);
    throw new Error("The work fails");
  });
  await expect(failing).rejects.toThrow("The work fails");
  expect(disk).not.toHaveBeenCalled();
  expect(await listNotes(engine.read)).toEqual(["one"]);
});

test("after the disk has failed a commit, the next one has all commits moved to the database", async () => {
  const { engine, path } = await openEngine();
  const disk = await spyOnDisk();
  disk.mockRejectedValueOnce(diskError());
  await expect(engine.transact(write("unsure"))).rejects.toMatchObject({
    code: "unavailable",
    message: "The database's disk fails.",
    details: { retryAfterSeconds: 60 },
  });
  expect(await engine.checkDisk?.()).toBe("failing");
  await engine.transact(write("sure"));
  expect(disk).toHaveBeenCalledTimes(1);
  const copy = `${path}-copy`;
  copyFileSync(path, copy);
  const database = new DatabaseSync(copy);
  expect(database.prepare("select text from notes").all()).toEqual([{ text: "unsure" }, { text: "sure" }]);
  database.close();
  await engine.transact(write("again"));
  expect(disk).toHaveBeenCalledTimes(2);
});

test("while the database cannot take the commits of a failed disk, changes are refused and reads go on", async () => {
  const { engine } = await openEngine();
  const disk = await spyOnDisk();
  disk.mockRejectedValueOnce(diskError());
  await expect(engine.transact(write("one"))).rejects.toMatchObject({ code: "unavailable" });
  const held = Promise.withResolvers<void>();
  const begun = Promise.withResolvers<void>();
  const reading = engine.snapshot(async (db) => {
    await listNotes(db);
    begun.resolve();
    await held.promise;
  });
  await begun.promise;
  await expect(engine.transact(write("two"))).rejects.toMatchObject({ code: "unavailable" });
  expect(await listNotes(engine.read)).toEqual(["one", "two"]);
  held.resolve();
  await reading;
  await engine.transact(write("three"));
  expect(await listNotes(engine.read)).toEqual(["one", "two", "three"]);
});

/** Reads how many pages the log has, and how many of them are in the database. */
function inspectLog(path: string) {
  const database = new DatabaseSync(path);
  try {
    return database.prepare("pragma wal_checkpoint(noop)").get() as { log: number; checkpointed: number };
  } finally {
    database.close();
  }
}

/** Commits texts of about a page each. */
async function writePages(transact: Transact, count: number): Promise<void> {
  for (let written = 0; written < count; written += 50) {
    await transact(async (db) => {
      for (let page = 0; page < 50; page += 1) await write("x".repeat(4_000))(db);
    });
  }
}

test("commits are moved to the database beside the requests, and the log is used again from its start", async () => {
  const { engine, path } = await openEngine();
  await writePages(engine.transact, 950);
  expect(inspectLog(path)).toMatchObject({ checkpointed: 0 });
  await writePages(engine.transact, 100);
  await vi.waitFor(() => {
    const { log, checkpointed } = inspectLog(path);
    expect(checkpointed).toBe(log);
  });
  await engine.transact(write("after"));
  expect(inspectLog(path).log).toBeLessThan(50);
  expect(await listNotes(engine.read)).toHaveLength(1_051);
});

test("while a reader needs the log, commits go on, and it is used from its start afterwards", async () => {
  const { engine, path } = await openEngine();
  const [begun, held] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const reading = engine.snapshot(async (db) => {
    const before = await listNotes(db);
    begun.resolve();
    await held.promise;
    return { before, after: await listNotes(db) };
  });
  await begun.promise;
  await writePages(engine.transact, 2_500);
  expect(inspectLog(path).log).toBeGreaterThan(2_500);
  held.resolve();
  expect(await reading).toEqual({ before: [], after: [] });
  await vi.waitFor(async () => {
    await engine.transact(write("after"));
    expect(inspectLog(path).log).toBeLessThan(1_000);
  });
});
