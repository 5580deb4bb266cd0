import { utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect } from "vitest";
import { createId } from "../../src/lib/ids.ts";
import { openDirectoryBlobStore } from "../../src/store/blobs/directory-blob-store.ts";
import { getFilesPrefix } from "../support/database-settings.ts";
import { loadJob, openFileServer, openMemoryServer, runDueExports } from "../support/exports.ts";
import { test } from "../support/test-server.ts";
import { at, createPendingExport, createWorker, listArtifacts } from "./pending-export.ts";

const dayMs = 24 * 60 * 60 * 1000;

describe("several workers", () => {
  test("work on one export each, the oldest first, of whichever tenant", async ({ desk }) => {
    const other = await desk.other();
    const ids: string[] = [];
    for (const each of [desk, other, desk]) {
      ids.push((await createPendingExport(each)).exportId);
      desk.clock.advance(1);
    }
    const queue = desk.app.store.exportQueue;
    const claims = await Promise.all(Array.from({ length: 5 }, () => queue.claim(at(desk, 0), at(desk, 1_000))));
    expect(claims.map((claim) => claim?.lease.exportId).toSorted()).toEqual([...ids, undefined, undefined]);
    expect(new Set(claims.flatMap((claim) => claim?.lease.leaseId ?? [])).size).toBe(3);
    desk.clock.advance(999);
    expect(await queue.claim(at(desk, 0), at(desk, 1))).toBeUndefined();
    desk.clock.advance(1);
    expect(await queue.claim(at(desk, 0), at(desk, 1))).toMatchObject({ lease: { exportId: ids[0] }, attempts: 2 });
  });

  test("take over what another has left: what it had kept without saying so is removed", async () => {
    const { desk, database } = await openFileServer();
    const { exportId } = await createPendingExport(desk);
    const { exportQueue } = desk.app.store;
    const place = openDirectoryBlobStore(`${getFilesPrefix(database)}.exports`);
    const claim = await exportQueue.claim(at(desk, 0), at(desk, 30_000));
    const spool = await place.spool(exportId);
    await spool.write("half of it");
    const { sha256 } = await spool.finish();
    if (claim) await exportQueue.note(claim.lease, sha256);
    await spool.keep();
    expect(await listArtifacts(`${getFilesPrefix(database)}.exports`)).toEqual([sha256]);
    expect(await desk.app.exports?.step()).toBe(false);
    desk.clock.advance(30_000);
    await runDueExports(desk);
    const job = await loadJob(desk, exportId);
    expect(await listArtifacts(`${getFilesPrefix(database)}.exports`)).toEqual([job.sha256]);
    expect(job.sha256).not.toBe(sha256);
    // Whoever comes back with the lost lease changes nothing.
    if (claim) {
      expect(await exportQueue.renew(claim.lease, at(desk, 1))).toBe(false);
      expect(await exportQueue.note(claim.lease, sha256)).toBe(false);
      await exportQueue.release(claim.lease, at(desk, 0));
    }
    expect(await loadJob(desk, exportId)).toEqual(job);
  });

  test("leave what another tenant's lease names alone", async ({ desk }) => {
    const { exportId } = await createPendingExport(desk);
    const claim = await desk.app.store.exportQueue.claim(at(desk, 0), at(desk, 1_000));
    const { lease } = claim ?? { lease: { businessId: "", exportId, leaseId: "" } };
    expect(await desk.app.store.exportQueue.renew({ ...lease, businessId: "biz_other" }, at(desk, 1))).toBe(false);
    const other = { businessId: "biz_other", actorId: "usr", now: at(desk, 0) };
    expect(await desk.app.store.transaction(other, (tx) => tx.endExport(lease))).toBe(false);
    expect(await desk.app.store.exportQueue.renew(lease, at(desk, 1))).toBe(true);
  });
});

describe("a worker that is stopped", () => {
  test("gives its export back at once, and leaves nothing behind", async () => {
    const { desk, database } = await openFileServer();
    const { exportId } = await createPendingExport(desk);
    const place = openDirectoryBlobStore(`${getFilesPrefix(database)}.exports`);
    const stopping = new AbortController();
    const worker = createWorker(desk, {
      artifacts: {
        ...place,
        async spool(id) {
          stopping.abort();
          return place.spool(id);
        },
      },
    });
    expect(await worker.step(stopping.signal)).toBe(true);
    expect(await listArtifacts(`${getFilesPrefix(database)}.exports`)).toEqual([]);
    expect(await loadJob(desk, exportId)).toMatchObject({ status: "pending", version: 0 });
    await runDueExports(desk);
    expect(await loadJob(desk, exportId)).toMatchObject({ status: "completed" });
  });

  test("works when it is started, and not before or after", async () => {
    const desk = await openMemoryServer();
    const { exportId } = await createPendingExport(desk);
    await new Promise((resolve) => setTimeout(resolve, 700));
    expect(await loadJob(desk, exportId)).toMatchObject({ status: "pending" });
    desk.app.exports?.start();
    await expect.poll(async () => (await loadJob(desk, exportId)).status, { timeout: 5_000 }).toBe("completed");
    await desk.app.exports?.stop();
    const later = await createPendingExport(desk);
    await new Promise((resolve) => setTimeout(resolve, 700));
    expect(await loadJob(desk, later.exportId)).toMatchObject({ status: "pending" });
  });
});

test("what a process that ended has left in the spools goes after a day", async () => {
  const { desk, database } = await openFileServer();
  const { exportId } = await createPendingExport(desk);
  await runDueExports(desk);
  const left = join(`${getFilesPrefix(database)}.exports`, "spool", `${createId("exp")}.${createId("spl")}`);
  await writeFile(left, "half");
  await utimes(left, desk.clock.now(), desk.clock.now());
  await desk.app.exports?.sweep();
  expect(await listArtifacts(`${getFilesPrefix(database)}.exports`)).toHaveLength(2);
  desk.clock.advance(2 * dayMs);
  await desk.app.exports?.sweep();
  expect(await listArtifacts(`${getFilesPrefix(database)}.exports`)).toEqual([(await loadJob(desk, exportId)).sha256]);
});
