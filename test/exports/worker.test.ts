import { utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect } from "vitest";
import { createId } from "../../src/lib/ids.ts";
import { openDirectoryBlobStore } from "../../src/store/blobs/directory-blob-store.ts";
import { loadJob, openFileServer, openMemoryServer, runDueExports } from "../support/data/exports.ts";
import { getFilesPrefix } from "../support/database/database-settings.ts";
import { test } from "../support/servers/test-server.ts";
import { at, createPendingExport, createWorker, listArtifacts } from "./pending-export.ts";

const dayMs = 24 * 60 * 60 * 1000;

describe("several workers", () => {
  test("lease one export each, the oldest first, of any tenant", async ({ server }) => {
    const other = await server.other();
    const ids: string[] = [];
    for (const each of [server, other, server]) {
      ids.push((await createPendingExport(each)).exportId);
      server.clock.advance(1);
    }
    const queue = server.app.store.exportQueue;
    const claims = await Promise.all(Array.from({ length: 5 }, () => queue.claim(at(server, 0), at(server, 1_000))));
    expect(claims.map((claim) => claim?.lease.exportId).toSorted()).toEqual([...ids, undefined, undefined]);
    expect(new Set(claims.flatMap((claim) => claim?.lease.leaseId ?? [])).size).toBe(3);
    server.clock.advance(999);
    expect(await queue.claim(at(server, 0), at(server, 1))).toBeUndefined();
    server.clock.advance(1);
    expect(await queue.claim(at(server, 0), at(server, 1))).toMatchObject({ lease: { exportId: ids[0] }, attempts: 2 });
  });

  test("begin an export of an organisation that has none in progress before further ones of a busy one", async ({
    server,
  }) => {
    const quiet = await server.other();
    const ids: string[] = [];
    for (const each of [server, server, server, quiet]) {
      ids.push((await createPendingExport(each)).exportId);
      server.clock.advance(1);
    }
    const { exportQueue } = server.app.store;
    const claim = async () => (await exportQueue.claim(at(server, 0), at(server, 1_000)))?.lease.exportId;
    expect([await claim(), await claim(), await claim(), await claim()]).toEqual([ids[0], ids[3], ids[1], ids[2]]);
  });

  test("take over an abandoned export, and remove its unrecorded file", async () => {
    const { server, database } = await openFileServer();
    const { exportId } = await createPendingExport(server);
    const { exportQueue } = server.app.store;
    const place = openDirectoryBlobStore(`${getFilesPrefix(database)}.exports`);
    const claim = await exportQueue.claim(at(server, 0), at(server, 30_000));
    const spool = await place.spool(exportId);
    await spool.write("half of it");
    const { sha256 } = await spool.finish();
    if (claim) await exportQueue.note(claim.lease, sha256);
    await spool.keep();
    expect(await listArtifacts(`${getFilesPrefix(database)}.exports`)).toEqual([sha256]);
    expect(await server.app.exports?.step()).toBe(false);
    server.clock.advance(30_000);
    await runDueExports(server);
    const job = await loadJob(server, exportId);
    expect(await listArtifacts(`${getFilesPrefix(database)}.exports`)).toEqual([job.sha256]);
    expect(job.sha256).not.toBe(sha256);
    // The holder of the lost lease changes nothing.
    if (claim) {
      expect(await exportQueue.renew(claim.lease, at(server, 1))).toBe(false);
      expect(await exportQueue.note(claim.lease, sha256)).toBe(false);
      await exportQueue.release(claim.lease, at(server, 0));
    }
    expect(await loadJob(server, exportId)).toEqual(job);
  });

  test("cannot use another tenant's lease", async ({ server }) => {
    const { exportId } = await createPendingExport(server);
    const claim = await server.app.store.exportQueue.claim(at(server, 0), at(server, 1_000));
    const { lease } = claim ?? { lease: { businessId: "", exportId, leaseId: "" } };
    expect(await server.app.store.exportQueue.renew({ ...lease, businessId: "biz_other" }, at(server, 1))).toBe(false);
    const other = { businessId: "biz_other", actorId: "usr", now: at(server, 0) };
    expect(await server.app.store.transaction(other, (tx) => tx.endExport(lease))).toBe(false);
    expect(await server.app.store.exportQueue.renew(lease, at(server, 1))).toBe(true);
  });
});

describe("a worker that is stopped", () => {
  test("releases its export at once, without leftovers", async () => {
    const { server, database } = await openFileServer();
    const { exportId } = await createPendingExport(server);
    const place = openDirectoryBlobStore(`${getFilesPrefix(database)}.exports`);
    const stopping = new AbortController();
    const worker = createWorker(server, {
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
    expect(await loadJob(server, exportId)).toMatchObject({ status: "pending", version: 0 });
    await runDueExports(server);
    expect(await loadJob(server, exportId)).toMatchObject({ status: "completed" });
  });

  test("works only between start and stop", async () => {
    const server = await openMemoryServer();
    const { exportId } = await createPendingExport(server);
    await new Promise((resolve) => setTimeout(resolve, 700));
    expect(await loadJob(server, exportId)).toMatchObject({ status: "pending" });
    server.app.exports?.start();
    await expect.poll(async () => (await loadJob(server, exportId)).status).toBe("completed");
    await server.app.exports?.stop();
    const later = await createPendingExport(server);
    await new Promise((resolve) => setTimeout(resolve, 700));
    expect(await loadJob(server, later.exportId)).toMatchObject({ status: "pending" });
  });
});

test("leftover spool files of ended processes are deleted after a day", async () => {
  const { server, database } = await openFileServer();
  const { exportId } = await createPendingExport(server);
  await runDueExports(server);
  const left = join(`${getFilesPrefix(database)}.exports`, "spool", `${createId("exp")}.${createId("spl")}`);
  await writeFile(left, "half");
  await utimes(left, server.clock.now(), server.clock.now());
  await server.app.retention?.sweep();
  expect(await listArtifacts(`${getFilesPrefix(database)}.exports`)).toHaveLength(2);
  server.clock.advance(2 * dayMs);
  await server.app.retention?.sweep();
  expect(await listArtifacts(`${getFilesPrefix(database)}.exports`)).toEqual([
    (await loadJob(server, exportId)).sha256,
  ]);
});
