import { spawn } from "node:child_process";
import { once } from "node:events";
import { writeFile } from "node:fs/promises";
import { dirname } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { beforeAll, describe, expect, inject, onTestFinished, test } from "vitest";
import { createId } from "../../src/lib/ids.ts";
import { readCheckpoint } from "../../src/store/copy/checkpoint.ts";
import { compareDatabases, copyDatabase } from "../../src/store/copy/copy.ts";
import { migrations } from "../../src/store/migrations/migrate.ts";
import { inspectStore, openEngine, openStore } from "../../src/store/open.ts";
import type { Store } from "../../src/store/port.ts";
import { readSchema } from "../../src/store/schema/read-schema.ts";
import { edit } from "../support/data/edit.ts";
import { type Databases, openDatabases } from "../support/database/database-server.ts";
import { temporaryDirectory } from "../support/processes/directory.ts";
import { benchOf } from "./conformance.ts";
import { entry, token } from "./ledgers.ts";

let databases: Databases;

beforeAll(async () => {
  databases = await openDatabases({ given: inject("postgres"), isolation: inject("isolation") });
  return () => databases.stop();
});

type Engine = "SQLite" | "PostgreSQL";

/** A new database, which nobody has migrated. */
async function fresh(engine: Engine): Promise<string> {
  const { path, remove } = await temporaryDirectory();
  const made = engine === "SQLite" ? { database: `${path}/programme.db`, remove } : await databases.empty();
  onTestFinished(async () => {
    await made.remove();
    if (engine === "PostgreSQL") await remove();
  });
  return made.database;
}

async function opened(database: string): Promise<Store> {
  const store = await openStore({ database });
  onTestFinished(() => store.close());
  return store;
}

/** Records that refer to each other, and to later ones; texts that one of the engines has no place for; large rows. */
async function filled(engine: Engine, accesses = 300): Promise<string> {
  const database = await fresh(engine);
  const store = await openStore({ database });
  const { seed } = benchOf(store);
  await store.insertBusiness({ businessId: "biz_one", name: "One", createdAt: "2026-01-01T00:00:00.000Z" });
  await store.insertToken(token({}));
  const { submissionId } = await seed.submission({
    title: "a\0b\uffff\u{1f600}",
    fields: { long: "x".repeat(300_000) },
  });
  const later = await seed.person({ personId: "per_z", primaryEmail: "z@example.org" });
  await seed.person({ personId: "per_a", primaryEmail: "a@example.org", mergedIntoPersonId: later.personId });
  await seed.review({
    assignmentId: (await assigned(store, submissionId)).assignmentId,
    ...(await homeOf(store, submissionId)),
  });
  await seed.emailSend({ status: "queued" });
  for (let count = 0; count < 50; count++) await seed.program({ name: `Program ${count}` });
  await store.appendAccess(Array.from({ length: accesses }, (_, index) => access(index)));
  await store.close();
  return database;
}

function access(index: number) {
  return entry({ auditId: createId("aud"), requestId: `req_${index}`, status: 200, changes: [] });
}

async function homeOf(store: Store, submissionId: string) {
  const [found] = await store.reader("biz_one").find("assignments", { where: { submissionId } }, { limit: 1 });
  const { programId = "", roundId = "", reviewerId = "" } = found ?? {};
  return { submissionId, programId, roundId, reviewerId };
}

async function assigned(store: Store, submissionId: string) {
  const { seed } = benchOf(store);
  const { programId, trackId } = (await store.reader("biz_one").get("submissions", submissionId)) ?? {};
  if (programId === undefined || trackId === undefined) throw new Error("No such submission");
  const { roundId } = await seed.round({ programId, trackId });
  const { reviewerId } = await seed.reviewer();
  return seed.assignment({ programId, trackId, roundId, submissionId, reviewerId });
}

const latest = Object.keys(migrations).at(-1) as string;

const between = (from: string, to: string) => ({ from: { database: from }, to: { database: to } });

const ways: readonly (readonly [Engine, Engine])[] = [
  ["SQLite", "PostgreSQL"],
  ["PostgreSQL", "SQLite"],
  ["SQLite", "SQLite"],
  ["PostgreSQL", "PostgreSQL"],
];

describe.each(ways)("from %s to %s", (source, target) => {
  test("every row is copied, and the program works with the copy", async () => {
    const [from, to] = [await filled(source), await fresh(target)];
    const { tables, resumed } = await copyDatabase(between(from, to));
    expect(resumed).toBe(false);
    for (const { table, from: here, to: there, same } of tables)
      expect([table, there, same]).toEqual([table, here, true]);
    expect(tables.find(({ table }) => table === "audit")?.to.rows).toBe(300);
    expect(tables.map(({ table }) => table)).not.toContain("migrations");
    const [one, other] = [await opened(from), await opened(to)];
    for (const table of ["submissions", "persons", "reviews", "emailSends", "programs"] as const) {
      const rows = await one.reader("biz_one").find(table, {}, { limit: 100 });
      expect(rows.length).toBeGreaterThan(0);
      expect(await other.reader("biz_one").find(table, {}, { limit: 100 })).toEqual(rows);
    }
    // What was signed with the one is good at the other.
    expect(await other.secret("handles")).toEqual(await one.secret("handles"));
    const { seed } = benchOf(other);
    await expect(seed.program({ name: "New" })).resolves.toMatchObject({ version: 0 });
    await expect(seed.person({ mergedIntoPersonId: "per_nobody" })).rejects.toThrow();
  });

  test("an interrupted copy continues, even if the source has changed", async () => {
    const [from, to] = [await filled(source), await fresh(target)];
    const stop = new Error("stopped");
    for (const share of [0.05, 0.2, 0.45, 0.6]) {
      const onProgress = (done: number) => {
        if (done > share) throw stop;
      };
      await expect(copyDatabase({ ...between(from, to), onProgress })).rejects.toBe(stop);
      await expect(openStore({ database: to })).rejects.toThrow(/not finished/);
      await change(from);
    }
    const { tables, resumed } = await copyDatabase(between(from, to));
    expect(resumed).toBe(true);
    expect(tables.filter(({ same }) => !same)).toEqual([]);
  });
});

/** A change, an addition and a removal; and an address, of which there is one, that moves to another person. */
async function change(database: string): Promise<void> {
  const store = await openStore({ database });
  const { seed, write } = benchOf(store);
  await seed.program({ name: "Added" });
  await write(async (transaction) => {
    const [program] = await transaction.find("programs", {}, { limit: 1 });
    if (program) await transaction.update("programs", program, { name: createId("name") });
    const [send] = await transaction.find("payments", {}, { limit: 1 });
    if (send) await transaction.remove("payments", send);
    const [a, z] = [await transaction.get("persons", "per_a"), await transaction.get("persons", "per_z")];
    if (!a || !z) throw new Error("Nobody is there");
    const externalRefs = [{ namespace: "crm", objectType: "contact", externalId: "1" }];
    const [holder, next] = a.externalRefs.length > 0 ? [a, z] : [z, a];
    await transaction.update("persons", holder, { externalRefs: [] });
    await transaction.update("persons", next, { externalRefs });
  });
  await store.close();
}

test("a source in use is copied as of one moment, and the copy can be updated until it is used", async () => {
  const [from, to] = [await filled("SQLite", 5_000), await fresh("PostgreSQL")];
  const store = await openStore({ database: from });
  const { seed, write } = benchOf(store);
  const { programId } = await seed.program({ programId: "prg_zz", year: 2000 });
  const before = await store.reader("biz_one").lastCommitNumber();
  let copying = true;
  const writing = (async () => {
    while (copying) {
      await write(async (transaction) => {
        const program = await transaction.get("programs", programId);
        if (program) await transaction.update("programs", program, { year: program.year + 1 });
      });
      await sleep(1);
    }
  })();
  await copyDatabase(between(from, to));
  copying = false;
  await writing;
  const engine = await openEngine({ database: to });
  const [program] = await engine.read
    .selectFrom("programs")
    .select("year")
    .where("programId", "=", programId)
    .execute();
  const [sequence] = await engine.read.selectFrom("tenantSequences").select("commitNumber").execute();
  await engine.close();
  expect(Number(sequence?.["commitNumber"]) - before).toBe(Number(program?.["year"]) - 2000);
  await store.close();

  const { tables, resumed } = await copyDatabase(between(from, to));
  expect([resumed, tables.filter(({ same }) => !same)]).toEqual([true, []]);
  await opened(to);
  await expect(copyDatabase(between(from, to))).rejects.toThrow(/not from this copy/);
});

const main = fileURLToPath(new URL("../../src/main.ts", import.meta.url));

/** The command, on a database that `PROGRAMME_DATABASE` names and what else is given. */
function command(database: string, ...args: readonly string[]) {
  const env = { PATH: process.env["PATH"] ?? "", PROGRAMME_DATABASE: database, PROGRAMME_DATA_DIR: dirname(main) };
  const child = spawn(process.execPath, [main, "copy", ...args], { env, stdio: ["ignore", "pipe", "pipe"] });
  onTestFinished(() => void child.kill("SIGKILL"));
  let [stdout, stderr] = ["", ""];
  child.stdout.on("data", (chunk: Buffer) => {
    stdout += chunk;
  });
  child.stderr.on("data", (chunk: Buffer) => {
    stderr += chunk;
  });
  return { child, ended: once(child, "close").then(([code]) => ({ code: code as number | null, stdout, stderr })) };
}

/** Sends a signal to a process that has begun to copy. */
async function stopped({ child }: ReturnType<typeof command>, to: string, signal: NodeJS.Signals): Promise<void> {
  const engine = await openEngine({ database: to });
  const begun = async () => (await readCheckpoint(engine.read).catch(() => undefined))?.table !== undefined;
  while (child.exitCode === null && !(await begun())) await sleep(5);
  child.kill(signal);
  await engine.close();
}

test.each(["SQLite", "PostgreSQL"] as const)("copying to %s stops when the process is stopped", async (engine) => {
  const [from, to] = [await filled("SQLite", 20_000), await fresh(engine)];
  const first = command(to, "--from", from);
  await stopped(first, to, "SIGINT");
  const { code, stdout, stderr } = await first.ended;
  expect([code, stdout]).toEqual([130, ""]);
  expect(stderr).toContain("the same command goes on with it");
  await expect(openStore({ database: to })).rejects.toThrow(/not finished/);
  expect(await command(to, "--from", from).ended).toMatchObject({ code: 0, stderr: "" });
});

test("a copy that was killed is continued by the next process", async () => {
  const [from, to] = [await filled("SQLite", 20_000), await fresh("PostgreSQL")];
  const first = command(to, "--from", from);
  await stopped(first, to, "SIGKILL");
  expect((await first.ended).code).toBe(null);
  await expect(openStore({ database: to })).rejects.toThrow(/not finished/);

  const { code, stdout, stderr } = await command(to, "--from", from, "--json").ended;
  expect([code, stderr]).toEqual([0, ""]);
  expect(JSON.parse(stdout)).toMatchObject({ verified: true, resumed: true });
  expect(stdout).not.toContain(new URL(to).password);
  expect((await compareDatabases(between(from, to))).tables.every(({ same }) => same)).toBe(true);
});

describe("the command", () => {
  test("reports what is stored outside the database", async () => {
    const [from, to] = [await filled("SQLite"), await fresh("SQLite")];
    for (const name of ["files", "key"]) await writeFile(`${from}.${name}`, "");
    const { code, stdout, stderr } = await command(to, "--from", from).ended;
    expect([code, stderr]).toEqual([0, ""]);
    expect(stdout).toContain(`move ${from}.files to ${to}.files`);
    expect(stdout).toContain(`move ${from}.key to ${to}.key`);
    expect(stdout).not.toContain(`${from}.exports`);
  });

  test("compares without writing, and fails if there is a difference", async () => {
    const [from, to] = [await filled("SQLite"), await fresh("SQLite")];
    expect(await command(to, "--from", from, "--verify").ended).toMatchObject({ code: 2, stdout: "" });
    await command(to, "--from", from).ended;
    expect(await command(to, "--from", from, "--verify").ended).toMatchObject({ code: 0, stderr: "" });
    await edit(to, "delete from programs where name = 'Program 1'");
    const { code, stdout, stderr } = await command(to, "--from", from, "--verify").ended;
    expect([code, stdout]).toEqual([1, expect.stringMatching(/^different\s+programs\s+(\d+)\s+(?!\1\b)\d+$/m)]);
    expect(stderr).toContain("do not hold the same");
  });

  test("refuses an address with a password, and names missing arguments", async () => {
    const secret = "postgres://programme:sesame@127.0.0.1:1/programme";
    for (const args of [["--from", "a.db", "--to", secret], ["--from", secret], [], ["--from", ":memory:"]]) {
      const { code, stdout, stderr } = await command("programme.db", ...args).ended;
      expect([args, code, stdout]).toEqual([args, 2, ""]);
      expect(stderr).not.toContain("sesame");
    }
  });
});

describe("a copy is refused and changes nothing", () => {
  test("if the target has other tables", async () => {
    const [from, to] = [await filled("SQLite"), await filled("PostgreSQL")];
    const before = await opened(to);
    const programs = await before.reader("biz_one").find("programs", {}, { limit: 100 });
    await expect(copyDatabase(between(from, to))).rejects.toThrow(/not from this copy/);
    expect(await before.reader("biz_one").find("programs", {}, { limit: 100 })).toEqual(programs);
  });

  test.each(["SQLite", "PostgreSQL"] as const)("if the target is a %s database of another program", async (engine) => {
    const [from, to] = [await filled("SQLite"), await fresh(engine)];
    await edit(to, "create table guests (name text); insert into guests values ('Ada')");
    await expect(copyDatabase(between(from, to))).rejects.toThrow(/not from this copy/);
    await expect(copyDatabase(between(to, await fresh("SQLite")))).rejects.toThrow(/none of this program's tables/);
    const { read, close } = await openEngine({ database: to });
    expect((await readSchema(read)).map(({ name }) => name)).toEqual(["guests"]);
    await close();
  });

  test("if the target is in use and of an earlier version", async () => {
    const [from, to] = [await filled("SQLite"), await filled("SQLite")];
    await edit(to, `delete from migrations where name = '${latest}'`);
    await expect(copyDatabase(between(from, to))).rejects.toThrow(/not from this copy/);
    expect((await inspectStore({ database: to })).pending).toEqual([latest]);
  });

  test("if a later version has migrated the target", async () => {
    const [from, to] = [await filled("SQLite"), await fresh("SQLite")];
    await (await openStore({ database: to })).close();
    await edit(to, `insert into migrations (name, "appliedAt", since) values ('999_later', '', '009_turns')`);
    await expect(copyDatabase(between(from, to))).rejects.toThrow(/to fill is of a later version/);
  });

  test("if the target is a copy of another database", async () => {
    const [from, to] = [await filled("SQLite"), await fresh("SQLite")];
    await copyDatabase(between(from, to));
    await expect(copyDatabase(between(await filled("SQLite"), to))).rejects.toThrow(/copy of another/);
    expect((await compareDatabases(between(from, to))).tables.every(({ same }) => same)).toBe(true);
  });

  test.each([
    ["is of an earlier version", "delete from migrations where name = '009_turns'", /not at this version/],
    [
      "is of a later version",
      `insert into migrations (name, "appliedAt", since) values ('999_later', '', '009_turns')`,
      /later version/,
    ],
    ["was never used", "delete from settings", /empty/],
  ])("if the source %s", async (_, statement, expectedMessage) => {
    const [from, to] = [await filled("SQLite"), await fresh("SQLite")];
    await edit(from, statement);
    await expect(copyDatabase(between(from, to))).rejects.toThrow(expectedMessage);
  });

  test("if the source is missing, or is the target", async () => {
    const from = await filled("SQLite");
    await expect(copyDatabase(between(from, from))).rejects.toThrow(/same database/);
    const missing = `${await fresh("SQLite")}.gone`;
    await expect(copyDatabase(between(missing, from))).rejects.toThrow(/no database/);
  });
});

test("of two processes that copy to one database only one continues, and the other reports it", async () => {
  const [from, to] = [await filled("SQLite", 20_000), await fresh("PostgreSQL")];
  let second: Promise<PromiseSettledResult<unknown>[]> | undefined;
  const onProgress = () => {
    second ??= Promise.allSettled([copyDatabase(between(from, to))]);
  };
  const first = await Promise.allSettled([copyDatabase({ ...between(from, to), onProgress })]);
  const ended = [...first, ...((await second) ?? [])];
  expect(ended.map(({ status }) => status).toSorted()).toEqual(["fulfilled", "rejected"]);
  expect(ended.find(({ status }) => status === "rejected")).toMatchObject({
    reason: { message: "Another process copies to the same database" },
  });
  expect((await compareDatabases(between(from, to))).tables.every(({ same }) => same)).toBe(true);
});

test("tables of other programs in the target stay unchanged", async () => {
  const [from, to] = [await filled("SQLite"), await fresh("SQLite")];
  await edit(from, "create table replication (place text); insert into replication values ('1'); analyze");
  await copyDatabase(between(from, to));
  const { tables } = await copyDatabase(between(from, to));
  expect(tables.filter(({ same }) => !same)).toEqual([]);
  expect(tables.map(({ table }) => table)).not.toContain("replication");
});

test("a difference between source and copy is found", async () => {
  const [from, to] = [await filled("SQLite"), await fresh("PostgreSQL")];
  await copyDatabase(between(from, to));
  await edit(to, `update submissions set title = 'another'`);
  const { tables } = await compareDatabases(between(from, to));
  expect(tables.filter(({ same }) => !same).map(({ table }) => table)).toEqual(["submissions"]);
});
