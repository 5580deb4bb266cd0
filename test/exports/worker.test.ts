import { readdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { pino } from "pino";
import { describe, expect } from "vitest";
import type { Scope } from "../../src/contract/scopes.ts";
import { createExportWorker, type ExportWorkerDeps } from "../../src/exports/worker.ts";
import { sha256Hex } from "../../src/lib/crypto.ts";
import { newId } from "../../src/lib/ids.ts";
import { personsOf } from "../../src/service/expansion.ts";
import { openContentDirectory } from "../../src/store/content.ts";
import type { ContentStore, Spool } from "../../src/store/port.ts";
import { openBucket } from "../support/bucket.ts";
import { type Desk, test } from "../support/desk.ts";
import { download, fileDesk, jobOf, memoryDesk, workOff } from "../support/exports.ts";
import { send } from "../support/raw.ts";
import { auditOf } from "../support/state.ts";

const hourMs = 60 * 60 * 1000;
const weekMs = 7 * 24 * hourMs;
const refused = { status: 404, text: "This link is not valid, or no longer." };

/** An export that waits, of a programme with a submission, and the token that asked for it. */
async function waiting(desk: Desk, granted: readonly Scope[] = ["exports:write", "exports:read"]) {
  const clerk = await desk.as("REST", granted);
  const { programId } = await desk.seed.submission();
  const { exportId } = await clerk.create_export({ programId });
  return { exportId: exportId as string, programId, clerk };
}

/** Every file below a directory, its spools aside. */
async function artifacts(directory: string): Promise<string[]> {
  const entries = await readdir(directory, { recursive: true, withFileTypes: true }).catch(() => []);
  return entries.filter((entry) => entry.isFile()).map(({ name }) => name);
}

/** A worker on a desk's store with something of it replaced. */
function workerOn({ app, clock }: Desk, given: Partial<ExportWorkerDeps>) {
  const log = pino({ level: "silent" });
  return createExportWorker({
    store: app.store,
    artifacts: openContentDirectory("/nowhere"),
    clock,
    log,
    personsOf,
    ...given,
  });
}

/** A place for artifacts in which something goes wrong. */
async function broken(given: Partial<Spool>): Promise<ContentStore> {
  const spool: Spool = {
    sizeBytes: 0,
    write: async () => undefined,
    finish: async () => ({ sha256: sha256Hex("x"), sizeBytes: 1 }),
    keep: async () => undefined,
    discard: async () => undefined,
    ...given,
  };
  const nothing = async () => undefined;
  return {
    put: async () => sha256Hex("x"),
    spool: async () => spool,
    find: nothing,
    open: async () => Promise.reject(new Error("nothing")),
    remove: nothing,
    sweep: nothing,
  };
}

function failing(code: string) {
  return async () => Promise.reject(Object.assign(new Error(code), { code }));
}

describe("a completed export", () => {
  test("says when, how large and what it is, and is recorded as the service's own doing", async ({ desk }) => {
    const { exportId, clerk } = await waiting(desk);
    const before = await jobOf(desk, exportId);
    desk.clock.advance(1_000);
    await workOff(desk);
    const now = desk.clock.now();
    const job = await clerk.get_export({ exportId });
    const { text } = await send(job.downloadUrl, {});
    expect(job).toEqual({
      ...before,
      status: "completed",
      completedAt: now.toISOString(),
      sizeBytes: Buffer.byteLength(text),
      sha256: sha256Hex(text),
      downloadUrl: expect.stringContaining(`${desk.origin}/exports/${exportId}?`),
      downloadExpiresAt: new Date(now.getTime() + hourMs).toISOString(),
      version: 1,
      updatedAt: now.toISOString(),
      updatedBy: "exports",
    });
    const [entry] = await auditOf(desk.app.store, desk.businessId, "export.completed");
    expect(entry).toEqual({
      auditId: expect.stringMatching(/^aud_/),
      businessId: desk.businessId,
      action: "export.completed",
      entityType: "export",
      entityId: exportId,
      programId: job.programId,
      submissionId: null,
      actorType: "system",
      actorId: "exports",
      tokenId: null,
      requestId: expect.stringMatching(/^req_/),
      status: null,
      changes: [
        { path: "status", from: "pending", to: "completed" },
        { path: "sizeBytes", from: null, to: job.sizeBytes },
        { path: "sha256", from: null, to: job.sha256 },
        { path: "completedAt", from: null, to: job.completedAt },
      ],
      reason: null,
      occurredAt: now.toISOString(),
    });
    expect(await desk.app.exports?.step()).toBe(false);
  });

  test("is downloaded as a file of its own name, whole or in part", async ({ desk }) => {
    const { exportId, clerk } = await waiting(desk);
    await workOff(desk);
    const { downloadUrl, sha256, sizeBytes } = await clerk.get_export({ exportId });
    const answer = await send(downloadUrl, {});
    expect(answer.status).toBe(200);
    expect(Object.fromEntries(answer.headers)).toMatchObject({
      "content-type": "application/json",
      "content-disposition": `attachment; filename*=UTF-8''${exportId}.json`,
      "content-length": String(sizeBytes),
      etag: `"${sha256}"`,
      "cache-control": "private, no-store",
    });
    const part = await send(downloadUrl, { headers: { range: "bytes=-2" } });
    expect([part.status, part.text]).toEqual([206, "}\n"]);
    expect(answer.body).toMatchObject({ exportId });
  });

  test("gives a fresh link each time, which works for an hour and never longer than the file is kept", async ({
    desk,
  }) => {
    const { exportId, clerk } = await waiting(desk);
    await workOff(desk);
    const first = (await clerk.get_export({ exportId })).downloadUrl;
    desk.clock.advance(hourMs - 1);
    expect((await send(first, {})).status).toBe(200);
    desk.clock.advance(1);
    expect(await send(first, {})).toMatchObject(refused);
    const second = (await clerk.get_export({ exportId })).downloadUrl;
    expect((await send(second, {})).status).toBe(200);
    desk.clock.advance(weekMs - hourMs - 60_000);
    const last = await clerk.get_export({ exportId });
    const { completedAt } = last;
    expect(Date.parse(last.downloadExpiresAt)).toBe(Date.parse(completedAt) + weekMs);
    desk.clock.advance(60_000);
    expect(await send(last.downloadUrl, {})).toMatchObject(refused);
  });

  test("is kept for seven days; then its file is removed, and the job says so", async () => {
    const { desk, database } = await fileDesk();
    const old = await waiting(desk);
    await workOff(desk);
    desk.clock.advance(hourMs);
    const young = await waiting(desk);
    await workOff(desk);
    const { sha256 } = await jobOf(desk, young.exportId);
    desk.clock.advance(weekMs - hourMs - 1);
    await desk.app.exports?.sweep();
    expect(await artifacts(`${database}.exports`)).toHaveLength(2);
    desk.clock.advance(1);
    const gone = { status: "completed", errorCode: "expired", downloadUrl: null, downloadExpiresAt: null };
    expect(await jobOf(desk, old.exportId)).toMatchObject(gone);
    await desk.app.exports?.sweep();
    await desk.app.exports?.sweep();
    expect(await artifacts(`${database}.exports`)).toEqual([sha256]);
    expect((await download(desk, young.exportId)).status).toBe(200);
    expect(await jobOf(desk, old.exportId)).toMatchObject(gone);
  });

  test("is as good from a bucket", async () => {
    const bucket = await openBucket();
    const desk = await memoryDesk(bucket.environment);
    const { exportId } = await waiting(desk);
    await workOff(desk);
    expect((await download(desk, exportId)).body).toMatchObject({ exportId, submissions: { length: 1 } });
    desk.clock.advance(weekMs);
    const objects = async () => (await artifacts(bucket.directory)).filter((name) => name.endsWith("_object"));
    expect(await objects()).toHaveLength(1);
    await desk.app.exports?.sweep();
    expect(await objects()).toEqual([]);
  });
});

describe("a link to an export", () => {
  test("opens that export alone: altered, of a file, of another tenant or not completed it is the same as none", async ({
    desk,
  }) => {
    const other = await desk.other();
    const [mine, second, theirs] = [await waiting(desk), await waiting(desk), await waiting(other)];
    await workOff(desk);
    const pending = await waiting(desk);
    const link = async (at: Desk, exportId: string) => new URL((await jobOf(at, exportId)).downloadUrl);
    const [url, foreign] = [await link(desk, mine.exportId), await link(other, theirs.exportId)];
    const file = await desk.seed.file({
      fileId: mine.exportId,
      sizeBytes: 4,
      sha256: await desk.app.content.put(Buffer.from("file")),
    });
    const fileUrl = (await (await desk.as("REST")).get_file_download_url({ fileId: file.fileId })).downloadUrl;
    const bad = [
      url.href.replace("/exports/", "/files/"),
      fileUrl.replace("/files/", "/exports/"),
      url.href.replace(mine.exportId, second.exportId),
      url.href.replace(mine.exportId, pending.exportId),
      url.href.replace(mine.exportId, theirs.exportId),
      url.href.replace(desk.businessId, other.businessId),
      foreign.href.replace(other.businessId, desk.businessId),
      url.href.replace(/expires=\d+/, (found) => `${found}0`),
      url.href.replace(/signature=./, "signature="),
      url.href.replace(/\?.*/, ""),
      `${url.origin}/exports/`,
      `${url.origin}/exports/${mine.exportId}/${url.search}`,
    ];
    for (const href of bad) expect((await send(href, {})).status, href).toBe(404);
    for (const href of [url.href, foreign.href, fileUrl]) expect((await send(href, {})).status).toBe(200);
  });
});

describe("an export fails", () => {
  async function failedWith(desk: Desk, exportId: string, errorCode: string): Promise<void> {
    const job = await jobOf(desk, exportId);
    expect(job).toMatchObject({ status: "failed", errorCode, downloadUrl: null, sha256: null, completedAt: null });
    expect(await desk.app.exports?.step()).toBe(false);
    const [entry] = await auditOf(desk.app.store, desk.businessId, "export.failed");
    expect(entry).toMatchObject({ entityId: exportId, actorType: "system" });
    expect(entry?.changes).toContainEqual({ path: "errorCode", from: null, to: errorCode });
    expect(await auditOf(desk.app.store, desk.businessId, "export.completed")).toEqual([]);
  }

  test("when its token was revoked before it ran", async ({ desk }) => {
    const { exportId } = await waiting(desk);
    const job = await desk.app.store.reader(desk.businessId).get("exports", exportId);
    await desk.app.store.revokeToken(job?.tokenId ?? "", desk.clock.now().toISOString());
    await workOff(desk);
    await failedWith(desk, exportId, "invalid_token");
  });

  test("when its token is revoked while it runs: nothing is kept", async () => {
    const { desk, database } = await fileDesk();
    const { exportId } = await waiting(desk);
    const { store } = desk.app;
    const job = await store.reader(desk.businessId).get("exports", exportId);
    const place = openContentDirectory(`${database}.exports`);
    const worker = workerOn(desk, {
      artifacts: {
        ...place,
        async spool(id) {
          const spool = await place.spool(id);
          const finish = async () => {
            await store.revokeToken(job?.tokenId ?? "", desk.clock.now().toISOString());
            return spool.finish();
          };
          return { ...spool, finish };
        },
      },
    });
    await worker.step();
    await failedWith(desk, exportId, "invalid_token");
    expect(await artifacts(`${database}.exports`)).toEqual([]);
  });

  test("when its token has expired or lost a scope that it needs, or is no token of the tenant", async ({ desk }) => {
    const { programId } = await desk.seed.program();
    const other = await desk.other();
    const tokens = async (at: Desk, granted: Scope[], expiresAt: string | null = null) => {
      const tokenId = newId("tok");
      const now = desk.clock.now().toISOString();
      const rest = { name: "t", sha256: newId("sha"), prefix: "ab", revokedAt: null, lastUsedAt: null, createdAt: now };
      await at.app.store.insertToken({ tokenId, businessId: at.businessId, scopes: granted, expiresAt, ...rest });
      return tokenId;
    };
    const persons = { fieldIds: [] };
    const cases = [
      [{ tokenId: await tokens(desk, ["exports:write"], desk.clock.now().toISOString()) }, "invalid_token"],
      [{ tokenId: await tokens(other, ["exports:write"]) }, "invalid_token"],
      [{ tokenId: "tok_none" }, "invalid_token"],
      [{ tokenId: null }, "invalid_token"],
      [{ tokenId: await tokens(desk, ["exports:read"]) }, "insufficient_scope"],
      [{ tokenId: await tokens(desk, ["exports:write"]), persons }, "insufficient_scope"],
    ] as const;
    for (const [given, errorCode] of cases) {
      const scopes: Scope[] = ["exports:write", "persons:read"];
      const { exportId } = await desk.seed.exportJob({ programId, ...given, ...(given as object), scopes });
      await workOff(desk);
      await failedWith(desk, exportId, errorCode);
    }
  });

  test("when its file grows too large: what was written is gone", async () => {
    const { desk, database } = await fileDesk();
    const { exportId } = await waiting(desk);
    const place = openContentDirectory(`${database}.exports`);
    await workerOn(desk, { artifacts: place, maxBytes: 400 }).step();
    await failedWith(desk, exportId, "artifact_too_large");
    expect(await artifacts(`${database}.exports`)).toEqual([]);
  });

  test.for([
    ["ENOSPC", "write", "storage_full"],
    ["EDQUOT", "finish", "storage_full"],
    ["ENOSPC", "keep", "storage_full"],
    ["EFBIG", "write", "artifact_too_large"],
  ] as const)("when the disk says %s at %s", async ([code, where, errorCode], { desk }) => {
    const { exportId } = await waiting(desk);
    await workerOn(desk, { artifacts: await broken({ [where]: failing(code) }) }).step();
    await failedWith(desk, exportId, errorCode);
  });

  test.for([
    ["keep", "storage_unavailable"],
    ["write", "internal_error"],
  ] as const)("only after many tries with longer and longer pauses when its place fails at %s", async (case_, {
    desk,
  }) => {
    const [where, errorCode] = case_;
    const { exportId } = await waiting(desk);
    const worker = workerOn(desk, { artifacts: await broken({ [where]: failing("ECONNREFUSED") }) });
    const pausesMs: number[] = [];
    for (let tries = 1; tries < 10; tries++) {
      expect(await worker.step()).toBe(true);
      expect(await jobOf(desk, exportId)).toMatchObject({ status: "pending", errorCode: null });
      let pauseMs = 0;
      for (; !(await desk.app.store.exportQueue.claim(at(desk, pauseMs), at(desk, pauseMs))); pauseMs += 500);
      pausesMs.push(pauseMs);
      desk.clock.advance(pauseMs);
      if (tries === 4) break;
    }
    expect(pausesMs).toEqual([2_000, 8_000, 32_000, 128_000]);
    while ((await jobOf(desk, exportId)).status === "pending") {
      desk.clock.advance(5 * 60_000);
      expect(await worker.step()).toBe(true);
    }
    await failedWith(desk, exportId, errorCode);
  });

  test("when every process that took it up ended in the middle", async ({ desk }) => {
    const { exportId } = await waiting(desk);
    for (let tries = 0; tries < 10; tries++) {
      expect(await desk.app.store.exportQueue.claim(at(desk, 0), at(desk, 1))).toMatchObject({ attempts: tries + 1 });
      desk.clock.advance(1);
    }
    await workOff(desk);
    await failedWith(desk, exportId, "abandoned");
  });
});

function at({ clock }: Desk, ms: number): string {
  return new Date(clock.now().getTime() + ms).toISOString();
}

describe("several workers", () => {
  test("work on one export each, the oldest first, of whichever tenant", async ({ desk }) => {
    const other = await desk.other();
    const ids: string[] = [];
    for (const each of [desk, other, desk]) {
      ids.push((await waiting(each)).exportId);
      desk.clock.advance(1);
    }
    const queue = desk.app.store.exportQueue;
    const claims = await Promise.all(Array.from({ length: 5 }, () => queue.claim(at(desk, 0), at(desk, 1_000))));
    expect(claims.map((claim) => claim?.lease.exportId)).toEqual([...ids, undefined, undefined]);
    expect(new Set(claims.flatMap((claim) => claim?.lease.leaseId ?? [])).size).toBe(3);
    desk.clock.advance(999);
    expect(await queue.claim(at(desk, 0), at(desk, 1))).toBeUndefined();
    desk.clock.advance(1);
    expect(await queue.claim(at(desk, 0), at(desk, 1))).toMatchObject({ lease: { exportId: ids[0] }, attempts: 2 });
  });

  test("take over what another has left: what it had kept without saying so is removed", async () => {
    const { desk, database } = await fileDesk();
    const { exportId } = await waiting(desk);
    const { exportQueue } = desk.app.store;
    const place = openContentDirectory(`${database}.exports`);
    const claim = await exportQueue.claim(at(desk, 0), at(desk, 30_000));
    const spool = await place.spool(exportId);
    await spool.write("half of it");
    const { sha256 } = await spool.finish();
    if (claim) await exportQueue.note(claim.lease, sha256);
    await spool.keep();
    expect(await artifacts(`${database}.exports`)).toEqual([sha256]);
    expect(await desk.app.exports?.step()).toBe(false);
    desk.clock.advance(30_000);
    await workOff(desk);
    const job = await jobOf(desk, exportId);
    expect(await artifacts(`${database}.exports`)).toEqual([job.sha256]);
    expect(job.sha256).not.toBe(sha256);
    // Whoever comes back with the lost lease changes nothing.
    if (claim) {
      expect(await exportQueue.renew(claim.lease, at(desk, 1))).toBe(false);
      expect(await exportQueue.note(claim.lease, sha256)).toBe(false);
      await exportQueue.release(claim.lease, at(desk, 0));
    }
    expect(await jobOf(desk, exportId)).toEqual(job);
  });

  test("leave what another tenant's lease names alone", async ({ desk }) => {
    const { exportId } = await waiting(desk);
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
    const { desk, database } = await fileDesk();
    const { exportId } = await waiting(desk);
    const place = openContentDirectory(`${database}.exports`);
    const stopping = new AbortController();
    const worker = workerOn(desk, {
      artifacts: {
        ...place,
        async spool(id) {
          stopping.abort();
          return place.spool(id);
        },
      },
    });
    expect(await worker.step(stopping.signal)).toBe(true);
    expect(await artifacts(`${database}.exports`)).toEqual([]);
    expect(await jobOf(desk, exportId)).toMatchObject({ status: "pending", version: 0 });
    await workOff(desk);
    expect(await jobOf(desk, exportId)).toMatchObject({ status: "completed" });
  });

  test("works when it is started, and not before or after", async () => {
    const desk = await memoryDesk();
    const { exportId } = await waiting(desk);
    await new Promise((resolve) => setTimeout(resolve, 700));
    expect(await jobOf(desk, exportId)).toMatchObject({ status: "pending" });
    desk.app.exports?.start();
    await expect.poll(async () => (await jobOf(desk, exportId)).status, { timeout: 5_000 }).toBe("completed");
    await desk.app.exports?.stop();
    const later = await waiting(desk);
    await new Promise((resolve) => setTimeout(resolve, 700));
    expect(await jobOf(desk, later.exportId)).toMatchObject({ status: "pending" });
  });
});

test("what a process that ended has left in the spools goes after a day", async () => {
  const { desk, database } = await fileDesk();
  const { exportId } = await waiting(desk);
  await workOff(desk);
  const left = join(`${database}.exports`, "spool", `${newId("exp")}.${newId("spl")}`);
  await writeFile(left, "half");
  await desk.app.exports?.sweep();
  expect(await artifacts(`${database}.exports`)).toHaveLength(2);
  desk.clock.advance(2 * 24 * hourMs);
  await desk.app.exports?.sweep();
  expect(await artifacts(`${database}.exports`)).toEqual([(await jobOf(desk, exportId)).sha256]);
});
