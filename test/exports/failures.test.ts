import { describe, expect } from "vitest";
import type { Scope } from "../../src/contract/access/scopes.ts";
import { hashSha256Hex } from "../../src/lib/crypto/crypto.ts";
import { createId } from "../../src/lib/ids.ts";
import { openDirectoryBlobStore } from "../../src/store/blobs/directory-blob-store.ts";
import type { BlobStore, Spool } from "../../src/store/port.ts";
import { loadJob, openFileServer, runDueExports } from "../support/data/exports.ts";
import { listAudit } from "../support/data/state.ts";
import { getFilesPrefix } from "../support/database/database-settings.ts";
import { type TestServer, test } from "../support/servers/test-server.ts";
import { at, createPendingExport, createWorker, listArtifacts } from "./pending-export.ts";

/** A place for artifacts in which something goes wrong. */
async function broken(given: Partial<Spool>): Promise<BlobStore> {
  const spool: Spool = {
    sizeBytes: 0,
    write: async () => undefined,
    finish: async () => ({ sha256: hashSha256Hex("x"), sizeBytes: 1 }),
    keep: async () => undefined,
    discard: async () => undefined,
    ...given,
  };
  const nothing = async () => undefined;
  return {
    put: async () => hashSha256Hex("x"),
    spool: async () => spool,
    find: nothing,
    open: async () => Promise.reject(new Error("nothing")),
    remove: nothing,
    sweep: async () => 0,
  };
}

function failing(code: string) {
  return async () => Promise.reject(Object.assign(new Error(code), { code }));
}

describe("an export fails", () => {
  async function failedWith(server: TestServer, exportId: string, errorCode: string): Promise<void> {
    const job = await loadJob(server, exportId);
    expect(job).toMatchObject({ status: "failed", errorCode, downloadUrl: null, sha256: null, completedAt: null });
    expect(await server.app.exports?.step()).toBe(false);
    const [entry] = await listAudit(server.app.store, server.businessId, "export.failed");
    expect(entry).toMatchObject({ entityId: exportId, actorType: "system" });
    expect(entry?.changes).toContainEqual({ path: "errorCode", from: null, to: errorCode });
    expect(await listAudit(server.app.store, server.businessId, "export.completed")).toEqual([]);
  }

  test("when its token was revoked before it ran", async ({ server }) => {
    const { exportId } = await createPendingExport(server);
    const job = await server.app.store.reader(server.businessId).get("exports", exportId);
    await server.app.store.revokeToken(job?.tokenId ?? "", server.clock.now().toISOString());
    await runDueExports(server);
    await failedWith(server, exportId, "invalid_token");
  });

  test("when its token is revoked while it runs: nothing is kept", async () => {
    const { server, database } = await openFileServer();
    const { exportId } = await createPendingExport(server);
    const { store } = server.app;
    const job = await store.reader(server.businessId).get("exports", exportId);
    const place = openDirectoryBlobStore(`${getFilesPrefix(database)}.exports`);
    const worker = createWorker(server, {
      artifacts: {
        ...place,
        async spool(id) {
          const spool = await place.spool(id);
          const finish = async () => {
            await store.revokeToken(job?.tokenId ?? "", server.clock.now().toISOString());
            return spool.finish();
          };
          return { ...spool, finish };
        },
      },
    });
    await worker.step();
    await failedWith(server, exportId, "invalid_token");
    expect(await listArtifacts(`${getFilesPrefix(database)}.exports`)).toEqual([]);
  });

  test("when its token has expired or lost a scope that it needs, or is no token of the tenant", async ({ server }) => {
    const { programId } = await server.seed.program();
    const other = await server.other();
    const tokens = async (at: TestServer, granted: Scope[], expiresAt: string | null = null) => {
      const tokenId = createId("tok");
      const now = server.clock.now().toISOString();
      const rest = {
        name: "t",
        sha256: createId("sha"),
        prefix: "ab",
        revokedAt: null,
        lastUsedAt: null,
        createdAt: now,
      };
      await at.app.store.insertToken({ tokenId, businessId: at.businessId, scopes: granted, expiresAt, ...rest });
      return tokenId;
    };
    const persons = { fieldIds: [] };
    const cases = [
      [{ tokenId: await tokens(server, ["exports:write"], server.clock.now().toISOString()) }, "invalid_token"],
      [{ tokenId: await tokens(other, ["exports:write"]) }, "invalid_token"],
      [{ tokenId: "tok_none" }, "invalid_token"],
      [{ tokenId: null }, "invalid_token"],
      [{ tokenId: await tokens(server, ["exports:read"]) }, "insufficient_scope"],
      [{ tokenId: await tokens(server, ["exports:write"]), persons }, "insufficient_scope"],
    ] as const;
    for (const [given, errorCode] of cases) {
      const scopes: Scope[] = ["exports:write", "persons:read"];
      const { exportId } = await server.seed.exportJob({ programId, ...given, ...(given as object), scopes });
      await runDueExports(server);
      await failedWith(server, exportId, errorCode);
    }
  });

  test("when its file exceeds the limit, and the partial file is deleted", async () => {
    const { server, database } = await openFileServer();
    const { exportId } = await createPendingExport(server);
    const place = openDirectoryBlobStore(`${getFilesPrefix(database)}.exports`);
    await createWorker(server, { artifacts: place, maxBytes: 400 }).step();
    await failedWith(server, exportId, "artifact_too_large");
    expect(await listArtifacts(`${getFilesPrefix(database)}.exports`)).toEqual([]);
  });

  test.for([
    ["ENOSPC", "write", "storage_full"],
    ["EDQUOT", "finish", "storage_full"],
    ["ENOSPC", "keep", "storage_full"],
    ["EFBIG", "write", "artifact_too_large"],
  ] as const)("when the disk says %s at %s", async ([code, where, errorCode], { server }) => {
    const { exportId } = await createPendingExport(server);
    await createWorker(server, { artifacts: await broken({ [where]: failing(code) }) }).step();
    await failedWith(server, exportId, errorCode);
  });

  test.for([
    ["keep", "storage_unavailable"],
    ["write", "internal_error"],
  ] as const)("only after many attempts with growing pauses when its storage fails at %s", async (case_, {
    server,
  }) => {
    const [where, errorCode] = case_;
    const { exportId } = await createPendingExport(server);
    const worker = createWorker(server, { artifacts: await broken({ [where]: failing("ECONNREFUSED") }) });
    const pausesMs: number[] = [];
    for (let tries = 1; tries < 10; tries++) {
      expect(await worker.step()).toBe(true);
      expect(await loadJob(server, exportId)).toMatchObject({ status: "pending", errorCode: null });
      let pauseMs = 0;
      for (; !(await server.app.store.exportQueue.claim(at(server, pauseMs), at(server, pauseMs))); pauseMs += 500);
      pausesMs.push(pauseMs);
      server.clock.advance(pauseMs);
      if (tries === 4) break;
    }
    expect(pausesMs).toEqual([2_000, 8_000, 32_000, 128_000]);
    while ((await loadJob(server, exportId)).status === "pending") {
      server.clock.advance(5 * 60_000);
      expect(await worker.step()).toBe(true);
    }
    await failedWith(server, exportId, errorCode);
  });

  test("when every process that took it over was killed", async ({ server }) => {
    const { exportId } = await createPendingExport(server);
    for (let tries = 0; tries < 10; tries++) {
      expect(await server.app.store.exportQueue.claim(at(server, 0), at(server, 1))).toMatchObject({
        attempts: tries + 1,
      });
      server.clock.advance(1);
    }
    await runDueExports(server);
    await failedWith(server, exportId, "abandoned");
  });
});
