import { pino } from "pino";
import { describe, expect, test as plain, vi } from "vitest";
import type { AuditEntry } from "../../src/contract/audit.ts";
import type { OperationName } from "../../src/contract/index.ts";
import { createId } from "../../src/lib/ids.ts";
import { createAccessLog } from "../../src/pipeline/audit/access-log.ts";
import { openStore } from "../../src/store/open.ts";
import type { Store } from "../../src/store/port.ts";
import { rest } from "../support/clients/raw-http.ts";
import { listAudit } from "../support/data/state.ts";
import { ownDatabase } from "../support/database/database.ts";
import { openTestServer, TestClock, type TestServer, test } from "../support/servers/test-server.ts";
import { waitFor } from "../support/wait.ts";

describe("a request that changes nothing", () => {
  test("is recorded with its caller, operation, record and status", async ({ server }) => {
    const submission = await server.seed.submission();
    const { submissionId } = submission;
    const token = await server.token();
    const { tokenId } = await server.app.pipeline.identify(token);
    const answer = await rest(server, token, "get_submission", { submissionId });
    const [entry, ...others] = await waitForEntries(server, "submission.read");
    expect(others).toEqual([]);
    expect(entry).toEqual({
      auditId: expect.stringMatching(/^aud_/),
      businessId: server.businessId,
      action: "submission.read",
      entityType: "submission",
      entityId: submissionId,
      programId: null,
      submissionId,
      actorType: "token",
      actorId: tokenId,
      tokenId,
      requestId: answer.headers.get("x-request-id"),
      status: 200,
      changes: [],
      reason: null,
      occurredAt: server.clock.now().toISOString(),
    });
  });

  test("shows in the audit list when it is asked for by its action, and only then", async ({ server }) => {
    const { programId } = await server.seed.program({ lifecycleStatus: "draft" });
    const chair = await server.as("REST");
    await chair.get_program({ programId });
    await chair.update_program({ programId, version: 0, name: "Renamed" });
    await waitForEntries(server, "program.read");
    expect((await chair.list_audit_entries()).map((entry: AuditEntry) => entry.action)).toEqual(["program.updated"]);
    const [read] = await chair.list_audit_entries({ action: "program.read" });
    expect(read).toMatchObject({ action: "program.read", entityId: programId, status: 200 });
    expect(await chair.get_audit_entry({ auditId: read.auditId })).toEqual(read);
    expect(await chair.list_audit_entries({ programId, action: "program.listed" })).toEqual([]);
  });

  test.for<[OperationName, Record<string, unknown>, number]>([
    ["get_program", { programId: "prg_none" }, 404],
    ["list_programs", { limit: 0 }, 400],
    ["get_person", { personId: "per_any" }, 403],
    ["withdraw_submission", { submissionId: "sub_none", version: 0, reason: "Because of Grace" }, 404],
  ])("%s %j is recorded with its refusal, without what it said", async ([name, input, status], { server }) => {
    const token = await server.token(["programs:read", "submissions:write"]);
    const answer = await rest(server, token, name, input);
    expect(answer.status).toBe(status);
    await server.app.pipeline.flush();
    const entries = await listAudit(server.app.store, server.businessId, actionOf[name]);
    expect(entries).toMatchObject([
      { status, changes: [], reason: null, requestId: answer.headers.get("x-request-id") },
    ]);
  });

  const actionOf: Partial<Record<OperationName, string>> = {
    get_program: "program.read",
    list_programs: "program.listed",
    get_person: "person.read",
    withdraw_submission: "submission.withdrawn",
  };

  test("is recorded too when it came over MCP, and when a change came to nothing", async ({ server }) => {
    const { programId } = await server.seed.program();
    const agent = await server.as("MCP");
    await agent.get_program({ programId });
    await agent.update_program({ programId, version: 0, name: "Open call" });
    await server.app.pipeline.flush();
    expect(await listAudit(server.app.store, server.businessId, "program.read")).toHaveLength(1);
    expect(await listAudit(server.app.store, server.businessId, "program.updated")).toMatchObject([{ status: 200 }]);
    expect(await listAudit(server.app.store, server.businessId, undefined)).toEqual([]);
  });

  test("updates the time at which its token was last used", async ({ server }) => {
    const token = await server.token();
    server.clock.advance(5_000);
    await rest(server, token, "list_programs", {});
    await server.app.pipeline.flush();
    const { tokenId } = await server.app.pipeline.identify(token);
    const kept = (await server.app.store.listTokens()).find((each) => each.tokenId === tokenId);
    expect(kept?.lastUsedAt).toBe(server.clock.now().toISOString());
  });
});

describe("a request that gives something else as an id", () => {
  const address = "ada.lovelace@example.org";
  test.for<[OperationName, Record<string, unknown>, string]>([
    ["get_person", { personId: address }, "person.read"],
    ["withdraw_submission", { submissionId: address, version: 0, reason: "Because" }, "submission.withdrawn"],
    ["list_submissions", { programId: "Ada Lovelace" }, "submission.listed"],
    ["list_assignments", { submissionId: "+44 20 7946 0123" }, "assignment.listed"],
  ])("is recorded without it: %s %j", async ([name, input, action], { server }) => {
    const token = await server.token();
    await rest(server, token, name, input);
    const agent = await server.as("MCP");
    await agent.call(name, input).catch(() => undefined);
    const entries = await waitFor(async () => {
      const found = await listAudit(server.app.store, server.businessId, action);
      return found.length >= 2 && found;
    });
    expect(JSON.stringify(entries)).not.toMatch(/lovelace|7946/i);
  });
});

plain("what is queued is written when the service closes", async () => {
  const database = await ownDatabase();
  const { server, close } = await openTestServer({ PROGRAMME_DATABASE: database });
  await rest(server, await server.token(), "list_programs", {});
  await close();
  const store = await openStore({ database });
  expect(await listAudit(store, server.businessId, "program.listed")).toHaveLength(1);
  await store.close();
});

describe("the access log", () => {
  const entry = (): AuditEntry => ({
    auditId: createId("aud"),
    businessId: "biz_one",
    action: "program.read",
    entityType: "program",
    entityId: null,
    programId: null,
    submissionId: null,
    actorType: "token",
    actorId: "tok_one",
    tokenId: "tok_one",
    requestId: "req_one",
    status: 200,
    changes: [],
    reason: null,
    occurredAt: new TestClock().now().toISOString(),
  });

  plain("keeps what could not be written and writes it later, each entry once", async () => {
    const store = await openStore({ database: ":memory:" });
    let failures = 2;
    const failing = new Proxy(store, {
      get: (target, name: keyof Store) =>
        name === "appendAccess"
          ? (entries: AuditEntry[]) =>
              failures-- > 0 ? Promise.reject(new Error("disk full")) : target.appendAccess(entries)
          : (target[name] as () => unknown).bind(target),
    });
    const lines: string[] = [];
    const log = pino({}, { write: (line) => lines.push(line) });
    const accessLog = createAccessLog(failing, log);
    await accessLog.record(entry());
    await accessLog.flush();
    await accessLog.record(entry());
    await accessLog.flush();
    expect(await listAudit(store, "biz_one", "program.read")).toEqual([]);
    expect(lines.filter((line) => line.includes("disk full"))).toHaveLength(1);
    await accessLog.close();
    expect(await listAudit(store, "biz_one", "program.read")).toHaveLength(2);
    await store.close();
  });

  plain("makes callers wait instead of growing without limit", async () => {
    const store = await openStore({ database: ":memory:" });
    const accessLog = createAccessLog(store, pino({ level: "silent" }));
    for (let count = 1; count <= 5_000; count++) await accessLog.record(entry());
    expect(await listAudit(store, "biz_one", "program.read")).toHaveLength(5_000);
    await accessLog.close();
    await store.close();
  });
});

plain("calls are refused while the access log cannot be written and its queue is full", async () => {
  const { server, close } = await openTestServer();
  const token = await server.token();
  const { store, pipeline } = server.app;
  const append = vi.spyOn(store, "appendAccess").mockRejectedValue(new Error("disk full"));
  const call = () =>
    pipeline.execute({
      operation: "list_programs",
      token,
      parts: { params: {}, query: {}, body: undefined },
      requestId: "req_1",
    });
  let answered = 0;
  while ((await call()).ok) answered += 1;
  expect(answered).toBe(10_000);
  expect(await call()).toMatchObject({ ok: false, problem: { code: "unavailable", status: 503 } });
  append.mockRestore();
  await pipeline.flush();
  expect(await call()).toMatchObject({ ok: true });
  await pipeline.flush();
  expect(await store.reader(server.businessId).pageAudit({ action: "program.listed" }, { limit: 1 })).toMatchObject({
    rows: [{ status: 200 }],
  });
  await close();
});

/** The entries of an action, as soon as there are any. */
function waitForEntries({ app, businessId }: TestServer, action: string): Promise<AuditEntry[]> {
  return waitFor(async () => {
    const entries = await listAudit(app.store, businessId, action);
    expect(entries.length, action).toBeGreaterThan(0);
    return entries;
  });
}
