import { describe, expect, onTestFinished, test } from "vitest";
import { operationNames, operations } from "../../src/contract/index.ts";
import { findNearNames } from "../../src/lib/did-you-mean.ts";
import { getRecordSchema, resolveSelection } from "../../src/tools/results/field-selection.ts";
import { clients, readData, readNotes, type ToolClient, type ToolResult } from "../support/clients/clients.ts";
import { openTestServer } from "../support/servers/test-server.ts";

type Row = Record<string, unknown>;

async function openSetup(environment: Record<string, string> = {}) {
  const { server, close } = await openTestServer(environment);
  onTestFinished(close);
  const agent = (await clients["2026-07-28 over stdio"]?.(server, await server.token())) as ToolClient;
  return { server, agent };
}

describe("select", () => {
  test("shows the named fields of every row, with the record's id and version", async () => {
    const { server, agent } = await openSetup();
    await server.seed.submission({ title: "A roof", fields: { fld_title: "A roof" } });
    for (const select of [["title", "fields.fld_title"], "title,fields.fld_title", " title , fields.fld_title "]) {
      const [row] = readData(await agent.call("list_submissions", { select }));
      expect(row).toEqual({
        submissionId: expect.any(String),
        title: "A roof",
        fields: { fld_title: "A roof" },
        version: 0,
      });
    }
  });

  test("selects inside lists, and shows null where a value is null", async () => {
    const { server, agent } = await openSetup();
    const { schemaId } = await server.seed.schema({ publishedAt: null });
    const select = ["fields.fieldId", "fields.constraints.maxLength", "publishedAt"];
    const data = readData(await agent.call("get_schema", { schemaId, select }));
    expect(data).toMatchObject({ schemaId, publishedAt: null, version: 0 });
    expect(Object.keys(data)).toEqual(["schemaId", "publishedAt", "fields", "version"]);
    expect(data["fields"]).toEqual([
      { fieldId: "fld_title", constraints: { maxLength: 100 } },
      { fieldId: "fld_domain", constraints: {} },
      { fieldId: "fld_budget", constraints: {} },
      { fieldId: "fld_annex" },
    ]);
  });

  test("finds names with dots in free-form maps", async () => {
    const { server, agent } = await openSetup();
    const { submissionId } = await server.seed.submission({ fields: { "a.b": { c: 1, d: 2 }, a: 3 } });
    const result = await agent.call("get_submission", { submissionId, select: "fields.a.b.c" });
    expect(readData(result)).toEqual({ submissionId, fields: { "a.b": { c: 1 } }, version: 0 });
  });

  test("of * shows whole records", async () => {
    const { server, agent } = await openSetup();
    const { submissionId } = await server.seed.submission({});
    const whole = readData(await agent.call("get_submission", { submissionId }));
    expect(readData(await agent.call("get_submission", { submissionId, select: "*" }))).toEqual(whole);
    const { fields } = whole;
    const part = await agent.call("get_submission", { submissionId, select: ["fields.*"] });
    expect(readData(part)).toEqual({ submissionId, fields, version: 0 });
  });

  test("notes unknown names and what there is, and shows the rows", async () => {
    const { server, agent } = await openSetup();
    await server.seed.submission({ title: "A roof" });
    const result = await agent.call("list_submissions", { select: ["title", "zzzz", "deadline.year", "qqqq"] });
    expect(readData(result)).toEqual([{ submissionId: expect.any(String), title: "A roof", version: 0 }]);
    const notes = readNotes(result);
    expect(notes).toMatch(/^select has unknown names: zzzz, qqqq\. There are submissionId, programId, /);
    expect(notes).toContain("select has unknown names: deadline.year. deadline has no fields of its own.");
  });

  test("reads id and near names as the fields they stand for, and says so", async () => {
    const { server, agent } = await openSetup();
    const { programId, trackId, roundId } = await server.seed.round();
    const { reviewerId: seeded } = await server.seed.reviewer({});
    const submission = await server.seed.submission({ programId, trackId });
    const assignment = await server.seed.assignment({
      programId,
      trackId,
      roundId,
      submissionId: submission.submissionId,
      reviewerId: seeded,
    });
    const select = ["id", "state", "submission_id", "reviewer"];
    const result = await agent.call("list_assignments", { select, includeInactive: true });
    const { assignmentId, submissionId, reviewerId, status } = assignment;
    expect(readData(result)).toEqual([{ assignmentId, submissionId, reviewerId, status, version: 0 }]);
    expect(readNotes(result)).toContain(
      "select was read: id as assignmentId, state as status, submission_id as submissionId, reviewer as reviewerId.",
    );
  });

  test("takes no name for another if several are as near", async () => {
    const { server, agent } = await openSetup();
    await server.seed.reviewer({});
    const result = await agent.call("list_reviewers", { select: ["name"] });
    expect(Object.keys(readData(result)[0] ?? {})).toEqual(["reviewerId", "version"]);
    expect(readNotes(result)).toContain("select has unknown names: name. Did you mean firstName or lastName?");
  });

  test.each([
    ["list_reviews", "scores.vale", "scores.value"],
    ["list_submissions", "titel", "title"],
    ["list_submissions", "status", "state"],
    ["list_assignments", "state", "status"],
    ["list_programs", "status", "lifecycleStatus"],
    ["list_submissions", "email", "innovatorEmail"],
    ["list_submissions", "program", "programId"],
    ["list_rounds", "ID", "roundId"],
  ] as const)("of %s reads %s as %s", (name, given, path) => {
    expect(resolveSelection(getRecordSchema(name), [given]).paths).toEqual([path]);
  });

  test("finds no near name for a text that has no letters or is much longer", () => {
    for (const name of ["", "..", "-", "x".repeat(300)]) expect(findNearNames(name, ["title", "x"])).toEqual([]);
  });
});

describe("the answer of a write", () => {
  test("shows id, state, version and what changed", async () => {
    const { server, agent } = await openSetup();
    const { submissionId, version } = await server.seed.submission({ state: "SUBMITTED", title: "A roof" });
    const result = await agent.call("screen_submission", { submissionId, version, eligible: true });
    expect(readData(result)).toEqual({
      submissionId,
      state: "ELIGIBLE",
      previousState: "SUBMITTED",
      eligible: true,
      version: 1,
    });
    expect(result.content.map(({ type }) => type)).toEqual(["text", "resource_link"]);
  });

  test("shows the fields that select names, or everything", async () => {
    const { server, agent } = await openSetup();
    const { submissionId, version } = await server.seed.submission({ state: "SUBMITTED", title: "A roof" });
    const args = { submissionId, version, eligible: true };
    const result = await agent.call("screen_submission", { ...args, select: ["title", "nothing"] });
    expect(readData(result)).toEqual({ submissionId, title: "A roof", version: 1 });
    expect(readNotes(result)).toContain("select has unknown names: nothing.");
    const whole = await agent.call("screen_submission", { ...args, version: 1, eligible: false, select: "*" });
    expect(readData(whole)).toEqual(readData(await agent.call("get_submission", { submissionId })));
  });

  test("repeats short values that the call sets, and names long ones", async () => {
    const { server, agent } = await openSetup();
    const { programId, version, lifecycleStatus } = await server.seed.program();
    const branding = { headerText: "y".repeat(400), footerText: "Good luck" };
    const given = { name: "Open call", description: "x".repeat(400), branding };
    const result = await agent.call("update_program", { programId, version, ...given });
    const shown = { programId, name: "Open call", lifecycleStatus, branding: { footerText: "Good luck" }, version: 1 };
    expect(readData(result)).toEqual(shown);
    expect(readNotes(result)).toContain("Set as given, and not repeated here: description, branding.headerText.");
  });

  test("shows what was assigned to whom, and what was skipped", async () => {
    const { server, agent } = await openSetup();
    const { programId, trackId, roundId } = await server.seed.round();
    const { submissionId } = await server.seed.submission({
      trackId,
      programId,
      state: "IN_REVIEW",
      currentRoundId: roundId,
    });
    const { reviewerId } = await server.seed.reviewer({
      status: "active",
      roundIds: [roundId],
      programIds: [programId],
    });
    const pairs = [{ submissionId, reviewerId }];
    const result = await agent.call("bulk_assign_reviewers", { roundId, pairs });
    expect(readData(result)).toEqual({
      created: [{ assignmentId: expect.any(String), submissionId, reviewerId, version: 0 }],
      skipped: [],
    });
  });

  test("is the same brief one when the call is replayed", async () => {
    const { server } = await openSetup();
    const { submissionId, version } = await server.seed.submission({ state: "SUBMITTED" });
    const token = await server.token();
    const call = async (args: Row) => {
      const params = {
        name: "screen_submission",
        arguments: { submissionId, version, eligible: true, ...args },
        _meta: { "programme-mcp/idempotencyKey": "once" },
      };
      const response = await fetch(`${server.origin}/mcp`, {
        method: "POST",
        headers: {
          authorization: `Bearer ${token}`,
          "content-type": "application/json",
          accept: "application/json, text/event-stream",
        },
        body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/call", params }),
      });
      const text = await response.text();
      return JSON.parse(text.slice(text.indexOf("{"))).result as ToolResult;
    };
    const first = await call({});
    const again = await call({});
    expect(readData(again)).toEqual(readData(first));
    expect(readNotes(again)).toContain("This is the result of an earlier identical call. Nothing was applied again.");
    // `select` does not change what is applied.
    expect(readData(await call({ select: "submissionId" }))).toEqual({ submissionId, version: 1 });
    expect(await server.outbox()).toHaveLength(1);
  });

  test("names only fields that there are", () => {
    for (const name of operationNames) {
      const { changes = [] } = operations[name];
      expect(resolveSelection(getRecordSchema(name), changes), name).toEqual({ paths: changes, notes: [] });
    }
  });
});
