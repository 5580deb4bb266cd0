import { describe, expect } from "vitest";
import { hashSha256Hex } from "../../src/lib/crypto/crypto.ts";
import { send } from "../support/clients/raw-http.ts";
import { download, loadJob, openFileServer, openMemoryServer, runDueExports } from "../support/data/exports.ts";
import { listAudit } from "../support/data/state.ts";
import { getFilesPrefix } from "../support/database/database-settings.ts";
import { openBucket } from "../support/servers/s3-bucket.ts";
import { type TestServer, test } from "../support/servers/test-server.ts";
import { createPendingExport, listArtifacts } from "./pending-export.ts";

const hourMs = 60 * 60 * 1000;
const weekMs = 7 * 24 * hourMs;
const refused = { status: 404, text: "This link is not valid, or no longer." };

describe("a completed export", () => {
  test("has time, size and type, and is audited as done by the service", async ({ server }) => {
    const { exportId, clerk } = await createPendingExport(server);
    const before = await loadJob(server, exportId);
    server.clock.advance(1_000);
    await runDueExports(server);
    const now = server.clock.now();
    const job = await clerk.get_export({ exportId });
    const { text } = await send(job.downloadUrl, {});
    expect(job).toEqual({
      ...before,
      status: "completed",
      completedAt: now.toISOString(),
      sizeBytes: Buffer.byteLength(text),
      sha256: hashSha256Hex(text),
      downloadUrl: expect.stringContaining(`${server.origin}/exports/${exportId}?`),
      downloadExpiresAt: new Date(now.getTime() + hourMs).toISOString(),
      version: 1,
      updatedAt: now.toISOString(),
      updatedBy: "exports",
    });
    const [entry] = await listAudit(server.app.store, server.businessId, "export.completed");
    expect(entry).toEqual({
      auditId: expect.stringMatching(/^aud_/),
      businessId: server.businessId,
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
    expect(await server.app.exports?.step()).toBe(false);
  });

  test("is downloaded as a file of its own name, whole or in part", async ({ server }) => {
    const { exportId, clerk } = await createPendingExport(server);
    await runDueExports(server);
    const { downloadUrl, sha256, sizeBytes } = await clerk.get_export({ exportId });
    const answer = await send(downloadUrl, {});
    expect(answer.status).toBe(200);
    expect(Object.fromEntries(answer.headers)).toMatchObject({
      "content-type": "application/json",
      "content-disposition": `attachment; filename="${exportId}.json"`,
      "content-length": String(sizeBytes),
      etag: `"${sha256}"`,
      "cache-control": "private, no-store",
    });
    const part = await send(downloadUrl, { headers: { range: "bytes=-2" } });
    expect([part.status, part.text]).toEqual([206, "}\n"]);
    expect(answer.body).toMatchObject({ exportId });
  });

  test("gives a fresh link each time, which works for an hour and never longer than the file is kept", async ({
    server,
  }) => {
    const { exportId, clerk } = await createPendingExport(server);
    await runDueExports(server);
    const first = (await clerk.get_export({ exportId })).downloadUrl;
    server.clock.advance(hourMs - 1);
    expect((await send(first, {})).status).toBe(200);
    server.clock.advance(1);
    expect(await send(first, {})).toMatchObject(refused);
    const second = (await clerk.get_export({ exportId })).downloadUrl;
    expect((await send(second, {})).status).toBe(200);
    server.clock.advance(weekMs - hourMs - 60_000);
    const last = await clerk.get_export({ exportId });
    const { completedAt } = last;
    expect(Date.parse(last.downloadExpiresAt)).toBe(Date.parse(completedAt) + weekMs);
    server.clock.advance(60_000);
    expect(await send(last.downloadUrl, {})).toMatchObject(refused);
  });

  test("is kept for seven days; then its file is removed, and the job says so", async () => {
    const { server, database } = await openFileServer();
    const old = await createPendingExport(server);
    await runDueExports(server);
    server.clock.advance(hourMs);
    const young = await createPendingExport(server);
    await runDueExports(server);
    const { sha256 } = await loadJob(server, young.exportId);
    server.clock.advance(weekMs - hourMs - 1);
    await server.app.retention?.sweep();
    expect(await listArtifacts(`${getFilesPrefix(database)}.exports`)).toHaveLength(2);
    server.clock.advance(1);
    const gone = { status: "completed", errorCode: "expired", downloadUrl: null, downloadExpiresAt: null };
    expect(await loadJob(server, old.exportId)).toMatchObject(gone);
    await server.app.retention?.sweep();
    await server.app.retention?.sweep();
    expect(await listArtifacts(`${getFilesPrefix(database)}.exports`)).toEqual([sha256]);
    expect((await download(server, young.exportId)).status).toBe(200);
    expect(await loadJob(server, old.exportId)).toMatchObject(gone);
  });

  test("works the same from a bucket", async () => {
    const bucket = await openBucket();
    const server = await openMemoryServer(bucket.environment);
    const { exportId } = await createPendingExport(server);
    await runDueExports(server);
    expect((await download(server, exportId)).body).toMatchObject({ exportId, submissions: { length: 1 } });
    server.clock.advance(weekMs);
    const objects = async () => (await listArtifacts(bucket.directory)).filter((name) => name.endsWith("_object"));
    expect(await objects()).toHaveLength(1);
    await server.app.retention?.sweep();
    expect(await objects()).toEqual([]);
  });
});

describe("a link to an export", () => {
  test("opens only that export, and is not found if it is altered, of a file, of another tenant or not completed", async ({
    server,
  }) => {
    const other = await server.other();
    const [mine, second, theirs] = [
      await createPendingExport(server),
      await createPendingExport(server),
      await createPendingExport(other),
    ];
    await runDueExports(server);
    const pending = await createPendingExport(server);
    const link = async (at: TestServer, exportId: string) => new URL((await loadJob(at, exportId)).downloadUrl);
    const [url, foreign] = [await link(server, mine.exportId), await link(other, theirs.exportId)];
    const file = await server.seed.file({
      fileId: mine.exportId,
      sizeBytes: 4,
      sha256: await server.app.content.put(Buffer.from("file")),
    });
    const fileUrl = (await (await server.as("REST")).get_file_download_url({ fileId: file.fileId })).downloadUrl;
    const bad = [
      url.href.replace("/exports/", "/files/"),
      fileUrl.replace("/files/", "/exports/"),
      url.href.replace(mine.exportId, second.exportId),
      url.href.replace(mine.exportId, pending.exportId),
      url.href.replace(mine.exportId, theirs.exportId),
      url.href.replace(server.businessId, other.businessId),
      foreign.href.replace(other.businessId, server.businessId),
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
