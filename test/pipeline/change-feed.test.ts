import { pino } from "pino";
import { expect, onTestFinished } from "vitest";
import type { AuditEntry } from "../../src/contract/audit.ts";
import { createId } from "../../src/lib/ids.ts";
import { createChangeFeed, type RecordChange, type Watcher } from "../../src/pipeline/change-feed.ts";
import { openTestServer, type TestServer, tenantTest as test } from "../support/servers/test-server.ts";
import { waitFor } from "../support/wait.ts";

/** Creates a watcher that records its notifications. */
async function watch(server: TestServer) {
  const changes: (readonly RecordChange[] | "many")[] = [];
  const ends: string[] = [];
  const watcher: Watcher = {
    changed: (change) => void changes.push(change),
    rescoped: (scopes) => void ends.push(`rescoped ${[...scopes]}`),
    ended: () => void ends.push("ended"),
  };
  const token = await server.token();
  const { stop } = (await server.app.upstream.watch?.(token, watcher)) ?? expect.fail("Changes cannot be followed");
  return { changes, ends, token, stop };
}

/** Appends audit entries as other processes commit them, whatever their clocks say. */
function append(server: TestServer, atMs: number, ...entityIds: readonly string[]): Promise<void> {
  const entries = entityIds.map(
    (entityId): AuditEntry => ({
      auditId: createId("aud"),
      businessId: server.businessId,
      action: "program.updated",
      entityType: "program",
      entityId,
      programId: entityId,
      submissionId: null,
      actorType: "user",
      actorId: "usr_1",
      tokenId: null,
      requestId: "req_1",
      status: null,
      changes: [],
      reason: "Ada Marsh asked for it",
      occurredAt: new Date(atMs).toISOString(),
    }),
  );
  return server.app.store.transaction(
    { businessId: server.businessId, actorId: "usr_1", now: new Date(atMs).toISOString() },
    (transaction) => transaction.appendAudit(entries),
  );
}

const ids = (changes: readonly (readonly RecordChange[] | "many")[]) =>
  changes.flatMap((batch) => (batch === "many" ? ["many"] : batch.map(({ entityId }) => entityId)));

test("a watcher gets each change committed after it began, once, with ids only", async ({ server }) => {
  const nowMs = server.clock.now().getTime();
  await append(server, nowMs, "prg_before");
  const { changes, stop } = await watch(server);
  await append(server, nowMs, "prg_after");
  await waitFor(() => expect(changes).toHaveLength(1));
  expect(changes).toEqual([
    [{ entityType: "program", entityId: "prg_after", programId: "prg_after", submissionId: null }],
  ]);
  await append(server, nowMs, "prg_later");
  await waitFor(() => expect(ids(changes)).toEqual(["prg_after", "prg_later"]));
  stop();
  await append(server, nowMs, "prg_unheard");
  await new Promise((resolve) => setTimeout(resolve, 900));
  expect(ids(changes)).toEqual(["prg_after", "prg_later"]);
});

test("a change of a slow transaction with an earlier time is reported too", async ({ server }) => {
  const nowMs = server.clock.now().getTime();
  await append(server, nowMs, "prg_before");
  const { changes } = await watch(server);
  await append(server, nowMs - 8_000, "prg_slow");
  await waitFor(() => expect(ids(changes)).toEqual(["prg_slow"]));
});

test("an audit entry ahead of the clock hides no later change", async ({ server }) => {
  const nowMs = server.clock.now().getTime();
  await append(server, nowMs + 365 * 86_400_000, "prg_ahead");
  const { changes } = await watch(server);
  await append(server, nowMs, "prg_now");
  await waitFor(() => expect(ids(changes)).toEqual(["prg_now"]));
});

test('too many changes at once are reported as "many", and later ones one by one again', async ({ server }) => {
  const nowMs = server.clock.now().getTime();
  const { changes } = await watch(server);
  await append(server, nowMs, ...Array.from({ length: 5_001 }, (_, index) => `prg_${index}`));
  await waitFor(() => expect(ids(changes)).toContain("many"));
  server.clock.advance(60_000);
  await append(server, server.clock.now().getTime(), "prg_next");
  await waitFor(() => expect(ids(changes).at(-1)).toBe("prg_next"));
});

test("a watcher that begins later does not get the changes before", async ({ server }) => {
  const nowMs = server.clock.now().getTime();
  const first = await watch(server);
  first.stop();
  await append(server, nowMs, "prg_between");
  const second = await watch(server);
  await append(server, nowMs, "prg_after");
  await waitFor(() => expect(ids(second.changes)).toEqual(["prg_after"]));
  expect(first.changes).toEqual([]);
});

test("a watcher that begins while another's token is checked gets each change committed after it began", async ({
  server,
}) => {
  const { businessId } = server;
  const [checking, checked] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  let isSlow = false;
  const feed = createChangeFeed({
    store: server.app.store,
    log: pino({ level: "silent" }),
    async identify(token) {
      if (isSlow && token === "first") {
        checking.resolve();
        await checked.promise;
      }
      return { businessId, scopes: new Set() };
    },
  });
  onTestFinished(() => feed.close());
  const createWatcher = (changed: Watcher["changed"]) => ({
    changed,
    rescoped: () => undefined,
    ended: () => undefined,
  });
  await feed.watch(
    "first",
    createWatcher(() => undefined),
  );
  isSlow = true;
  await checking.promise;
  const changes: (readonly RecordChange[] | "many")[] = [];
  await feed.watch(
    "second",
    createWatcher((change) => void changes.push(change)),
  );
  await append(server, server.clock.now().getTime(), "prg_after");
  checked.resolve();
  await waitFor(() => expect(ids(changes)).toEqual(["prg_after"]));
});

test("an unknown token cannot watch", async ({ server }) => {
  const watcher: Watcher = { changed: () => undefined, rescoped: () => undefined, ended: () => undefined };
  await expect(server.app.upstream.watch?.("0".repeat(64), watcher)).rejects.toMatchObject({ code: "invalid_token" });
  await expect(server.app.upstream.watch?.(undefined, watcher)).rejects.toMatchObject({ code: "unauthorized" });
});

test("a watcher is told of the end of its token, and gets no change after it", async () => {
  const { server, close } = await openTestServer();
  try {
    const { changes, ends } = await watch(server);
    const [{ tokenId } = { tokenId: "" }] = await server.app.store.listTokens();
    await server.app.store.revokeToken(tokenId, server.clock.now().toISOString());
    await append(server, server.clock.now().getTime(), "prg_1");
    await waitFor(() => expect(ends).toEqual(["ended"]));
    await new Promise((resolve) => setTimeout(resolve, 500));
    expect([changes, ends]).toEqual([[], ["ended"]]);
  } finally {
    await close();
  }
});

test("others have their turns while many watchers are notified", async ({ server }) => {
  const writeMs = 0.2;
  let turns = 0;
  const notifiedInTurn: number[] = [];
  const countTurns = () => {
    turns += 1;
    next = setImmediate(countTurns);
  };
  let next = setImmediate(countTurns);
  onTestFinished(() => clearImmediate(next));
  const token = await server.token();
  const watcher: Watcher = {
    changed() {
      notifiedInTurn.push(turns);
      const startedMs = performance.now();
      while (performance.now() - startedMs < writeMs);
    },
    rescoped: () => expect.unreachable(),
    ended: () => expect.unreachable(),
  };
  const watches = [];
  for (let count = 0; count < 50; count += 1) watches.push(await server.app.upstream.watch?.(token, watcher));
  await append(server, server.clock.now().getTime(), "prg_after");
  await waitFor(() => expect(notifiedInTurn).toHaveLength(50));
  for (const watch of watches) watch?.stop();
  expect(new Set(notifiedInTurn).size).toBeGreaterThan(10);
});
