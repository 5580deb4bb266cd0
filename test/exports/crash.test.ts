import { readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { createId } from "../../src/lib/ids.ts";
import { download, loadJob, openFileServer, runDueExports } from "../support/data/exports.ts";
import { createFactory } from "../support/data/seed-factory.ts";
import { listAudit } from "../support/data/state.ts";
import { getFilesPrefix } from "../support/database/database-settings.ts";
import { type OtherProcess, startProcess } from "../support/processes/processes.ts";
import type { TestServer } from "../support/servers/test-server.ts";

const submissions = 12_000;
/** Written at once: a database over a network takes them in one go. */
const together = 500;
/** As long as a lease lasts. */
const leaseMs = 30_000;

/** An export that takes long enough to be caught in the middle. */
async function large() {
  const { server, database } = await openFileServer();
  const { programId, trackId } = await server.seed.track();
  const fields = { fld_title: "A light roof".repeat(100) };
  await server.write(async (tx) => {
    const seed = createFactory((work) => work(tx));
    for (let left = submissions; left > 0; left -= together) {
      await Promise.all(Array.from({ length: together }, () => seed.submission({ trackId, fields })));
    }
  });
  const { exportId } = await (await server.as("REST")).create_export({ programId });
  return { server, database, exportId: exportId as string };
}

/** Another process, in the portal's time. */
function start(database: string, { clock }: TestServer): Promise<OtherProcess> {
  return startProcess(database, { PROGRAMME_LOG_LEVEL: "warn" }, { aheadMs: clock.now().getTime() - Date.now() });
}

/** Waits until a process is in the middle of an export's file. */
async function untilWriting(database: string, exportId: string, after: ReadonlySet<string>): Promise<string> {
  const spools = join(`${getFilesPrefix(database)}.exports`, "spool");
  for (;;) {
    const names = await readdir(spools).catch(() => []);
    const name = names.find((each) => each.startsWith(exportId) && !after.has(each));
    if (name && ((await stat(join(spools, name)).catch(() => undefined))?.size ?? 0) > 0) return name;
    await new Promise((resolve) => setTimeout(resolve, 1));
  }
}

async function files(database: string): Promise<string[]> {
  const entries = await readdir(`${getFilesPrefix(database)}.exports`, { recursive: true, withFileTypes: true });
  return entries.filter((entry) => entry.isFile()).map(({ name }) => name);
}

/** Expects an export that was processed once, whatever happened on the way. */
async function expectOnce(server: TestServer, database: string, exportId: string): Promise<void> {
  const job = await loadJob(server, exportId);
  expect(job).toMatchObject({ status: "completed", version: 1 });
  expect(await files(database)).toEqual([job.sha256]);
  expect(await listAudit(server.app.store, server.businessId, "export.completed")).toHaveLength(1);
  const { status, body } = await download(server, exportId);
  expect([status, body.submissions.length]).toEqual([200, submissions]);
}

describe("an export whose process", () => {
  test("is killed repeatedly is continued by the next process and completed once", async () => {
    const { server, database, exportId } = await large();
    const seen = new Set<string>();
    for (let killed = 0; killed < 5; killed++) {
      const child = await start(database, server);
      seen.add(await untilWriting(database, exportId, seen));
      await child.kill();
      expect(await loadJob(server, exportId)).toMatchObject({ status: "pending", version: 0 });
      // Until its lease ends nobody else takes it up.
      expect(await server.app.exports?.step()).toBe(false);
      server.clock.advance(leaseMs + 10_000);
    }
    expect(seen.size).toBe(5);
    const child = await start(database, server);
    await expect.poll(async () => (await loadJob(server, exportId)).status).toBe("completed");
    await child.stop();
    server.clock.advance(60_000);
    await expectOnce(server, database, exportId);
  });

  test("stalls beyond its lease is taken over, and its later writes have no effect", async () => {
    const { server, database, exportId } = await large();
    const child = await start(database, server);
    await untilWriting(database, exportId, new Set());
    child.signal("SIGSTOP");
    // A process that stalls within a transaction locks the export until PostgreSQL ends the transaction, and all of a
    // database in SQLite. It goes on for a moment, to stall elsewhere. In that moment it may renew its lease, so each
    // attempt comes after the longest lease.
    const takeOver = async () => {
      server.clock.advance(10 * leaseMs);
      try {
        await runDueExports(server);
      } catch (error) {
        child.signal("SIGCONT");
        await delay(20);
        child.signal("SIGSTOP");
        throw error;
      }
      return loadJob(server, exportId);
    };
    await expect.poll(takeOver, { timeout: 120_000 }).toMatchObject({ version: 1 });
    await expectOnce(server, database, exportId);
    child.signal("SIGCONT");
    await expect.poll(child.logged).toContain("Another process took an export over");
    await child.stop();
    await expectOnce(server, database, exportId);
  });

  test("shuts down is continued by another process at once", async () => {
    const { server, database, exportId } = await large();
    const child = await start(database, server);
    await untilWriting(database, exportId, new Set());
    expect(await child.stop()).toBe(0);
    expect(await files(database)).toEqual([]);
    server.clock.advance(10_000);
    await runDueExports(server);
    await expectOnce(server, database, exportId);
  });
});

test("several processes complete each export once", async () => {
  const { server, database } = await openFileServer();
  const { programId } = await server.seed.submission();
  const token = await server.app.store.listTokens(server.businessId);
  expect(token).toEqual([]);
  await server.token(["exports:write"]);
  const [issued] = await server.app.store.listTokens(server.businessId);
  const exportIds = Array.from({ length: 40 }, () => createId("exp"));
  await server.write(async (tx) => {
    const seed = createFactory((work) => work(tx));
    for (const exportId of exportIds) {
      await seed.exportJob({ exportId, programId, tokenId: issued?.tokenId ?? null, scopes: ["exports:write"] });
    }
  });
  const children = await Promise.all([1, 2, 3].map(() => start(database, server)));
  const pending = () => server.app.store.reader(server.businessId).count("exports", { where: { status: "pending" } });
  await expect.poll(pending, { timeout: 60_000 }).toBe(0);
  await Promise.all(children.map((child) => child.stop()));
  const entries = await listAudit(server.app.store, server.businessId, "export.completed");
  expect(entries.map(({ entityId }) => entityId).sort()).toEqual(exportIds);
  const kept = [];
  for await (const { sha256 } of server.app.store.reader(server.businessId).scan("exports", {})) kept.push(sha256);
  expect((await files(database)).sort()).toEqual(kept.sort());
});
