import { describe, expect, onTestFinished, test } from "vitest";
import { maxScannedPages } from "../../src/tools/filters/scan.ts";
import { clients, readError, type ToolClient, type ToolResult } from "../support/clients/clients.ts";
import { openRemote } from "../support/servers/remote-server.ts";
import { openTestServer, type TestServer } from "../support/servers/test-server.ts";

type Row = Record<string, unknown>;

/** A service, and an agent on it or on a second server for which it is remote. */
async function openFixture(through: "embedded" | "remote") {
  const { server, close } = await openTestServer();
  onTestFinished(close);
  const app = through === "remote" ? await openRemote(server.origin) : server.app;
  if (app !== server.app) onTestFinished(() => app.close());
  const agent = (await clients["2026-07-28 over stdio"]?.({ ...server, app }, await server.token())) as ToolClient;
  return { server, agent };
}

function readRows(result: ToolResult): Row[] {
  expect(result.isError, result.content[0]?.text).toBeFalsy();
  return result.structuredContent?.data as unknown as Row[];
}

/** Reads a list to its end with `limit` rows a call. */
async function readAll(agent: ToolClient, name: string, args: Row): Promise<Row[]> {
  const rows: Row[] = [];
  let lastEvaluatedKey: string | undefined;
  do {
    const result = await agent.call(name, { ...args, ...(lastEvaluatedKey ? { lastEvaluatedKey } : {}) });
    rows.push(...readRows(result));
    const { page } = result.structuredContent ?? {};
    expect(page?.hasMore).toBe(page?.lastEvaluatedKey !== undefined);
    if (args["limit"] !== undefined) expect(readRows(result).length).toBeLessThanOrEqual(Number(args["limit"]));
    lastEvaluatedKey = page?.lastEvaluatedKey;
  } while (lastEvaluatedKey !== undefined);
  return rows;
}

async function seedReviewing(server: TestServer, count: number) {
  const homes = [];
  for (let at = 0; at < 2; at += 1) {
    const { programId, trackId, roundId, rubricId } = await server.seed.round();
    const { submissionId } = await server.seed.submission({ programId, trackId });
    homes.push({ programId, trackId, roundId, rubricId, submissionId });
  }
  const { reviewerId } = await server.seed.reviewer({});
  const statuses = ["assigned", "declined", "conflict", "completed"] as const;
  for (let at = 0; at < count; at += 1) {
    server.clock.advance(1000);
    const { rubricId, ...home } = homes[at % 2] as (typeof homes)[number];
    const assignment = { ...home, reviewerId, status: statuses[at % 4] as (typeof statuses)[number] };
    const { assignmentId } = await server.seed.assignment(assignment);
    const { trackId: _, ...place } = home;
    const status = at % 3 === 0 ? ("draft" as const) : ("submitted" as const);
    await server.seed.review({ ...place, rubricId, reviewerId, assignmentId, status });
  }
  return homes;
}

describe.each(["embedded", "remote"] as const)("through a service that is %s", (through) => {
  test("list_assignments takes several statuses, and one as the interface does", async () => {
    const { server, agent } = await openFixture(through);
    await seedReviewing(server, 12);
    const count = async (status: unknown, limit?: number) =>
      (await readAll(agent, "list_assignments", { status, ...(limit ? { limit } : {}) })).map((row) => row["status"]);
    expect(await count("declined")).toEqual(["declined", "declined", "declined"]);
    const both = await count(["declined", "completed"], 2);
    expect(both.toSorted()).toEqual(["completed", "completed", "completed", "declined", "declined", "declined"]);
    expect(await count("declined,completed", 4)).toEqual(both);
    expect(await count(["incomplete", "declined"])).toHaveLength(9);
    const refused = await agent.call("list_assignments", { status: ["nothing"] });
    expect(readError(refused)).toMatchObject({
      code: "validation_failed",
      details: { issues: [{ path: "status", message: expect.stringContaining("declined, conflict") }] },
    });
  });

  test("list_reviews takes a programme and a status", async () => {
    const { server, agent } = await openFixture(through);
    const [home] = await seedReviewing(server, 12);
    const programId = home?.programId;
    const all = await readAll(agent, "list_reviews", {});
    const expected = all.filter((row) => row["programId"] === programId && row["status"] === "draft");
    expect(expected).toHaveLength(2);
    for (const limit of [1, 2, 5]) {
      expect(await readAll(agent, "list_reviews", { programId, status: "draft", limit })).toEqual(expected);
    }
    expect(await readAll(agent, "list_reviews", { programId: "prg_none", all: true })).toEqual([]);
  });

  test("list_email_sends takes a bulk id, for the messages to its recipient", async () => {
    const { server, agent } = await openFixture(through);
    const recipientEmail = "ada@example.org";
    for (const bulkId of ["one", "two", null, "one"]) await server.seed.emailSend({ recipientEmail, bulkId });
    await server.seed.emailSend({ recipientEmail: "bo@example.org", bulkId: "one" });
    const rows = readRows(await agent.call("list_email_sends", { recipientEmail, bulkId: "one" }));
    expect(rows.map((row) => [row["recipientEmail"], row["bulkId"]])).toEqual(Array(2).fill([recipientEmail, "one"]));
  });

  test("list_audit_entries takes dates, and only changes of a state", async () => {
    const { server, agent } = await openFixture(through);
    const { submissionId } = await server.seed.submission({ state: "SUBMITTED" });
    const staff = await server.as("REST");
    const days = [];
    for (let version = 0; version < 4; version += 1) {
      days.push(server.clock.now().toISOString().slice(0, 10));
      await staff.screen_submission({ submissionId, version, eligible: version % 2 === 0 });
      server.clock.advance(24 * 60 * 60 * 1000);
    }
    const [first, second, third, fourth] = days;
    const listDays = async (args: Row) =>
      (await readAll(agent, "list_audit_entries", { submissionId, ...args })).map((row) =>
        String(row["occurredAt"]).slice(0, 10),
      );
    expect(await listDays({ from: second, to: third })).toEqual([third, second]);
    expect(await listDays({ from: third, limit: 1, onlyStateChanges: true })).toEqual([fourth, third]);
    expect(await listDays({ to: first, onlyStateChanges: true, all: true })).toEqual([first]);
    expect(await listDays({ from: "2030-01-01" })).toEqual([]);
    const refused = await agent.call("list_audit_entries", { from: "yesterday" });
    expect(readError(refused)).toMatchObject({ code: "validation_failed" });
  });

  test("an empty list has a note if its action, kind of record or event type is unknown", async () => {
    const { server, agent } = await openFixture(through);
    const listNotes = async (name: string, args: Row) => {
      const result = await agent.call(name, args);
      expect(readRows(result)).toEqual([]);
      return (result.structuredContent as { notes?: readonly string[] }).notes ?? [];
    };
    expect(await listNotes("list_audit_entries", { action: "submission.eliminatd" })).toEqual([
      expect.stringContaining(
        "action: “submission.eliminatd” is not the audit action of a tool. Did you mean submission.eliminated? Known are, for example: submission.",
      ),
    ]);
    expect(await listNotes("list_audit_entries", { action: "eliminate_submission" })).toEqual([
      expect.stringContaining("Did you mean submission.eliminated?"),
    ]);
    expect(await listNotes("list_audit_entries", { action: "submission.x" })).toEqual([
      expect.stringMatching(/Known are, for example: (submission\.\w+, )+submission\.\w+\.$/),
    ]);
    expect(await listNotes("list_audit_entries", { action: "submission.eliminated" })).toEqual([]);
    expect(await listNotes("list_audit_entries", { entityType: "submision" })).toEqual([
      expect.stringMatching(/^entityType: “submision” is not a known kind of record\. Did you mean submission\? Known/),
    ]);
    expect(await listNotes("list_audit_entries", { entityType: "payment" })).toEqual([]);
    expect(await listNotes("list_audit_entries", { entityType: "x.y", action: "x.y" })).toHaveLength(2);
    if (through === "embedded") {
      expect(await listNotes("list_events", { type: "payment.faild" })).toEqual([
        "type: “payment.faild” is not a known event type. Did you mean payment.failed? Known are, for example: payment.succeeded, payment.failed, payment.waived.",
      ]);
      expect(await listNotes("list_events", { type: "payment.failed" })).toEqual([]);
    }
    const rest = await (await server.as("REST")).call("list_audit_entries", { action: "submission.eliminatd" });
    expect(rest).not.toHaveProperty("notes");
  });
});

test("a scan ends at its bound, says so, and goes on from there", async () => {
  const { server, agent } = await openFixture("embedded");
  const [home] = await seedReviewing(server, 1);
  const total = maxScannedPages * 100 + 150;
  await server.write(async (tx) => {
    const [row] = await tx.find("reviews", {}, { limit: 1 });
    for (let at = 0; at < total; at += 1) {
      const reviewId = `rev_${String(at).padStart(6, "0")}`;
      if (row)
        await tx.insert("reviews", { ...row, reviewId, status: at === 0 || at === total - 1 ? "draft" : "submitted" });
    }
  });
  const args = { programId: home?.programId, status: "draft", all: true };
  const first = await agent.call("list_reviews", args);
  const { page, notes } = first.structuredContent ?? {};
  expect(page?.hasMore).toBe(true);
  expect(notes?.join(" ")).toContain(
    `The call looked at 2000 rows. One call looks at no more. ${readRows(first).length} rows are shown; continue with`,
  );
  const rest = await agent.call("list_reviews", { ...args, lastEvaluatedKey: page?.lastEvaluatedKey });
  expect(rest.structuredContent?.page).toEqual({ hasMore: false });
  const ids = [...readRows(first), ...readRows(rest)].map((row) => row["reviewId"]);
  expect(new Set(ids).size).toBe(3);
});
