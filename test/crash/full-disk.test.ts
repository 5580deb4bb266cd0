import { mkdir } from "node:fs/promises";
import { describe, expect, onTestFinished, test } from "vitest";
import type { Row } from "../../src/store/tables.ts";
import { send } from "../support/clients/raw-http.ts";
import { loadJob } from "../support/data/exports.ts";
import { createFactory } from "../support/data/seed-factory.ts";
import { temporaryDirectory } from "../support/processes/directory.ts";
import { startProcess } from "../support/processes/processes.ts";
import { hasSmallDisks, mountSmallDisks } from "../support/processes/small-disk.ts";
import { openTestServer, type TestServer } from "../support/servers/test-server.ts";
import { waitFor } from "../support/wait.ts";
import { createLargePersons } from "./large-records.ts";

const environment = { PROGRAMME_EXPORT_INTERVAL_SECONDS: "0", PROGRAMME_LOG_LEVEL: "warn" };

async function openDirectory(): Promise<string> {
  const { path, remove } = await temporaryDirectory();
  onTestFinished(remove);
  return path;
}

/** A service on a database file, at the time that it is. */
async function openOn(database: string): Promise<{ server: TestServer; close(): Promise<void> }> {
  const { server, close } = await openTestServer({ PROGRAMME_DATABASE: database, ...environment });
  server.clock.advance(Date.now() - server.clock.now().getTime());
  return { server, close };
}

async function personsIn(server: TestServer): Promise<unknown[]> {
  const found: unknown[] = [];
  for await (const { metadata } of server.app.store.reader(server.businessId).scan("persons", {}))
    found.push(metadata["n"]);
  return found;
}

describe.runIf(hasSmallDisks)("with a full disk", () => {
  test("under the database, changes are refused as unavailable and leave nothing, and go on once there is room", async () => {
    const directory = await openDirectory();
    const { server, close } = await openOn(`${directory}/programme.db`);
    const token = await server.token();
    await close();
    const disk = `${directory}/disk`;
    const { within, run, unmount } = await mountSmallDisks("12m", [disk]);
    onTestFinished(unmount);
    await run(`cp ${directory}/programme.db* ${disk}`);
    const service = await startProcess(`${disk}/programme.db`, environment, { within });
    // Each is more than what is left over on a full disk.
    const { acknowledged: kept, create } = createLargePersons(service, token, 50_000);
    const readiness = () => send(`${service.origin}/readyz`, {});
    for (let n = 0; n < 5; n++) expect(await create(n)).toMatchObject({ status: 201 });
    expect(await readiness()).toMatchObject({ status: 200, body: { checks: { disk: "ok" } } });
    await run(`dd if=/dev/zero of=${disk}/filler bs=4k || true`);
    let refused = await create(5);
    // The database's own files may have some room left.
    for (let n = 6; refused.status === 201; n++) refused = await create(n);
    const details = { retryAfterSeconds: 60 };
    const error = { code: "unavailable", message: "The database's disk is full.", details };
    for (const answer of [refused, await create(1_000), await create(1_001)]) {
      expect(answer).toMatchObject({ status: 503, body: { success: false, error } });
      expect(answer.headers.get("retry-after")).toBe("60");
    }
    expect(service.logged()).toContain("database or disk is full");
    const checks = { database: "ok", disk: "full" };
    // A look is good for a second.
    await expect.poll(readiness).toMatchObject({ status: 503, body: { status: "not_ready", checks } });
    await run(`rm ${disk}/filler`);
    await expect.poll(readiness).toMatchObject({ status: 200, body: { checks: { disk: "ok" } } });
    expect(await create(2_000)).toMatchObject({ status: 201 });
    expect(await service.stop()).toBe(0);
    await mkdir(`${directory}/after`);
    await run(`cp ${disk}/programme.db* ${directory}/after`);
    const after = await openOn(`${directory}/after/programme.db`);
    expect(await personsIn(after.server)).toEqual(kept);
    expect(kept).toContain(2_000);
    await after.close();
  });

  test("under exports and stored messages, exports fail with a code, messages wait, and no partial file remains", async () => {
    const directory = await openDirectory();
    const database = `${directory}/programme.db`;
    const { server, close } = await openOn(database);
    onTestFinished(close);
    const [exports, mail] = [`${database}.exports`, `${database}.mail`];
    const { within, run, unmount } = await mountSmallDisks("100k", [exports, mail]);
    onTestFinished(unmount);
    const filesIn = async (place: string) =>
      (await run(`find ${place} -type f -printf '%f\\n'`)).split("\n").filter(Boolean);
    const { programId, trackId } = await server.seed.track();
    const fields = { fld_title: "A light roof".repeat(100) };
    await server.write(async (tx) => {
      const seed = createFactory((work) => work(tx));
      for (let count = 0; count < 150; count++) await seed.submission({ trackId, fields });
    });
    const messages: Row<"emailSends">[] = [];
    for (let count = 0; count < 4; count++) {
      messages.push(await server.seed.emailSend({ status: "queued", sentAt: null, body: "Dear Ada\n".repeat(3_500) }));
    }
    const clerk = await server.as("REST");
    const { exportId } = await clerk.create_export({ programId });
    const first = await startProcess(database, environment, { within });
    await expect
      .poll(() => loadJob(server, exportId))
      .toMatchObject({
        ...{ status: "failed", errorCode: "storage_full", sha256: null, downloadUrl: null },
      });
    expect(await filesIn(exports)).toEqual([]);
    const sends = () => server.app.store.reader(server.businessId).find("emailSends", {}, { limit: 10 });
    const waiting = "The message could not be written to a file (ENOSPC)";
    await waitFor(
      async () =>
        expect((await sends()).every(({ status, error }) => status === "sent" || error === waiting)).toBe(true),
      60_000,
    );
    const sent = (await sends()).filter(({ status }) => status === "sent");
    expect(sent.length).toBeGreaterThan(0);
    expect(sent.length).toBeLessThan(messages.length);
    expect((await filesIn(mail)).toSorted()).toEqual(sent.map(({ emailSendId }) => `${emailSendId}.eml`).toSorted());
    expect(first.logged()).toContain("ENOSPC");
    expect(await first.stop()).toBe(0);

    await run(`mount -o remount,size=4m ${exports} && mount -o remount,size=4m ${mail}`);
    const { exportId: again } = await clerk.create_export({ programId });
    const second = await startProcess(database, environment, { within, aheadMs: 600_000 });
    await expect.poll(() => loadJob(server, again)).toMatchObject({ status: "completed" });
    await waitFor(async () => expect((await sends()).map(({ status }) => status)).toEqual(messages.map(() => "sent")));
    expect((await filesIn(mail)).toSorted()).toEqual(
      messages.map(({ emailSendId }) => `${emailSendId}.eml`).toSorted(),
    );
    const { sha256 } = await loadJob(server, again);
    expect(await filesIn(exports)).toEqual([sha256]);
    expect((await run(`sha256sum ${exports}/*/${sha256}`)).slice(0, 64)).toBe(sha256);
    expect(await second.stop()).toBe(0);
  });
});
