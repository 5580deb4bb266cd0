import { describe, expect } from "vitest";
import { SupplementStatus } from "../../../src/contract/supplements.ts";
import type { Row } from "../../../src/store/tables.ts";
import { fieldIds } from "../../support/data/seed-factory.ts";
import { surfaces, type TestServer, test } from "../../support/servers/test-server.ts";
import { nothing, recordTrace } from "../../support/trace.ts";

const statuses = SupplementStatus.options;
const now = "2026-11-20T09:00:00.000Z";
const then = "2026-11-10T00:00:00.000Z";
const { title, budget, annex } = fieldIds;

type Given = Partial<Row<"supplements">>;

/** A response that bears the times of the status it has, and one beside it that nothing may touch. */
async function seedStage({ seed }: TestServer, program: Partial<Row<"programs">> = {}) {
  const { programId } = await seed.program(program);
  const { trackId, schemaId } = await seed.track({ programId });
  const { roundId } = await seed.round({ programId, trackId });
  const submission = await seed.submission({ trackId, state: "IN_REVIEW", currentRoundId: roundId });
  const { submissionId } = submission;
  await seed.supplement({ submissionId, schemaId });
  const response = async (status: SupplementStatus, given: Given = {}) => {
    const submittedAt = status === "submitted" || status === "closed" ? then : null;
    const closedAt = status === "closed" ? then : null;
    return seed.supplement({ submissionId, schemaId, status, submittedAt, closedAt, ...given });
  };
  return { submission, submissionId, schemaId, response };
}

const open = ["not_started", "draft", "submitted"] as const;

describe.each(surfaces)("supplement responses over %s", (surface) => {
  const simple = [
    ["close_supplement", "close", "supplement.closed", open, { status: "closed", closedAt: now, reopenedAt: null }],
    [
      "reopen_supplement",
      "reopen",
      "supplement.reopened",
      ["closed"],
      { status: "draft", closedAt: null, submittedAt: null, reopenedAt: now },
    ],
  ] as const;

  test.for(simple)("%s", async ([name, operation, audit, allowedFrom, arrived], { server }) => {
    const chair = await server.as(surface);
    const { submissionId, response } = await seedStage(server);
    for (const status of statuses) {
      const before = await response(status);
      const { supplementResponseId, version } = before;
      const trace = await recordTrace(server, () => chair[name]({ submissionId, supplementResponseId, version }));
      if ((allowedFrom as readonly string[]).includes(status)) {
        expect(trace.data, status).toMatchObject({ ...kept(before), ...arrived, version: 1 });
        expect(trace.rows, status).toEqual([expect.stringMatching(/^supplements updated: /)]);
        expect(trace, status).toMatchObject({ events: [], audit: [audit] });
      } else {
        const details = { from: status, operation, allowedFrom };
        expect(trace, status).toMatchObject({ problem: { code: "invalid_state_transition", details }, ...nothing });
      }
    }
  });

  test.for(
    statuses,
  )("change from %s to any status by PATCH, and emit an event when they become submitted", async (from, { server }) => {
    const chair = await server.as(surface);
    const { submission, submissionId, response } = await seedStage(server);
    for (const to of statuses) {
      const before = await response(from);
      const { supplementResponseId, version } = before;
      const call = () => chair.update_supplement({ submissionId, supplementResponseId, version, status: to });
      const trace = await recordTrace(server, call);
      if (from === to) {
        expect(trace).toMatchObject({ data: before, ...nothing });
        continue;
      }
      expect(trace.data, to).toMatchObject({ ...kept(before), ...timesAt(from, to), status: to, version: 1 });
      expect(trace, to).toMatchObject({ rows: [expect.any(String)], audit: ["supplement.updated"] });
      const { programId, trackId, currentRoundId: roundId } = submission;
      const data = {
        businessId: server.businessId,
        programId,
        trackId,
        submissionId,
        roundId,
        version: 0,
        supplementResponseId,
      };
      const payloads = trace.events.map(({ eventType, data }) => [eventType, data]);
      expect(payloads, to).toEqual(to === "submitted" ? [["supplement.response.submitted", data]] : []);
    }
  });

  const content = { fields: { [title]: "Plan", [budget]: 3 }, contributorId: "con_1", contributorIndex: 9 };

  test("become a draft with their first content, and otherwise keep their status", async ({ server }) => {
    const chair = await server.as(surface);
    const { submissionId, response } = await seedStage(server);
    for (const from of open) {
      const { supplementResponseId } = await response(from, { fields: { [budget]: 1, fld_dropped: "kept" } });
      const edit = (version: number, change: object) =>
        recordTrace(server, () => chair.update_supplement({ submissionId, supplementResponseId, version, ...change }));
      for (const same of [{}, { fields: {} }, { fields: { [budget]: 1 } }, { fileIds: [] }]) {
        expect(await edit(0, same)).toMatchObject({ data: { status: from, version: 0 }, ...nothing });
      }
      const edited = await edit(0, content);
      expect(edited).toMatchObject({
        data: { ...content, status: from === "not_started" ? "draft" : from, version: 1 },
        rows: [`supplements updated: contributorId contributorIndex fields${from === "not_started" ? " status" : ""}`],
        events: [],
        audit: ["supplement.updated"],
      });
      expect(edited.data.fields).toEqual({ ...content.fields, fld_dropped: "kept" });
      const cleared = await edit(1, { fields: { [budget]: null, fld_dropped: null } });
      expect(cleared.data.fields).toEqual({ [title]: "Plan" });
    }
  });

  test("take contents and a status in one change", async ({ server }) => {
    const chair = await server.as(surface);
    const { submissionId, response } = await seedStage(server);
    for (const [from, status] of [
      ["not_started", "submitted"],
      ["draft", "closed"],
      ["not_started", "not_started"],
    ] as const) {
      const { supplementResponseId } = await response(from);
      const change = { submissionId, supplementResponseId, version: 0, ...content, status };
      const trace = await recordTrace(server, () => chair.update_supplement(change));
      expect(trace.data).toMatchObject({ ...content, status, version: 1 });
      expect(trace.events).toHaveLength(status === "submitted" ? 1 : 0);
    }
  });

  test("take contents when closed only if the same change reopens them", async ({ server }) => {
    const chair = await server.as(surface);
    const { submissionId, response } = await seedStage(server);
    const pieces = [...Object.entries(content).map(([name, value]) => ({ [name]: value })), { fileIds: [] }];
    for (const piece of pieces) {
      const { supplementResponseId } = await response("closed");
      const edit = (more: object) =>
        chair.update_supplement({ submissionId, supplementResponseId, version: 0, ...piece, ...more });
      for (const more of [{}, { status: "closed" }]) {
        expect(await recordTrace(server, () => edit(more))).toMatchObject({
          problem: {
            code: "invalid_state_transition",
            details: { from: "closed", operation: "edit", allowedFrom: open },
          },
          ...nothing,
        });
      }
      expect(await edit({ status: "draft" })).toMatchObject({ ...piece, status: "draft", reopenedAt: now });
    }
  });

  test("refuse values outside the form and files of other submissions, and name each", async ({ server }) => {
    const chair = await server.as(surface);
    const { submissionId, schemaId, response } = await seedStage(server);
    const { supplementResponseId } = await response("draft");
    const stranger = await server.seed.supplement({
      submissionId: (await server.seed.submission()).submissionId,
      schemaId,
    });
    const own = await server.seed.file({ submissionId });
    const attached = await server.seed.file({ supplementResponseId });
    const foreign = await server.seed.file({ supplementResponseId: stranger.supplementResponseId });
    const alien = await (await server.other()).seed.file();
    const edit = (change: object, version = 0) =>
      recordTrace(server, () => chair.update_supplement({ submissionId, supplementResponseId, version, ...change }));
    const refused: readonly [object, readonly string[]][] = [
      [{ fields: { fld_none: 1 } }, ["fields.fld_none"]],
      [{ fields: { fld_none: null } }, ["fields.fld_none"]],
      [{ fields: { [title]: 1, [budget]: "1" } }, [`fields.${title}`, `fields.${budget}`]],
      [{ fields: { [annex]: foreign.fileId } }, [`fields.${annex}`]],
      [{ fileIds: [own.fileId, foreign.fileId, "fil_none", alien.fileId] }, ["fileIds.1", "fileIds.2", "fileIds.3"]],
      [{ fileIds: Array.from({ length: 101 }, (_, index) => `fil_${index}`) }, ["fileIds"]],
      [{ status: "open" }, ["status"]],
      [{ contributorIndex: 10 }, ["contributorIndex"]],
      [{ contributorId: "" }, ["contributorId"]],
      [{ required: false }, ["required"]],
    ];
    for (const [change, paths] of refused) {
      const trace = await edit({ contributorIndex: 1, ...change });
      const issues = paths.map((path) => ({ path }));
      expect(trace, paths[0]).toMatchObject({
        problem: { code: "validation_failed", details: { issues } },
        ...nothing,
      });
    }
    const fileIds = [attached.fileId, own.fileId, attached.fileId];
    const kept = await edit({ fileIds, fields: { [annex]: [own.fileId, attached.fileId] } });
    expect(kept.data).toMatchObject({ fileIds: [attached.fileId, own.fileId] });
    expect((await edit({ fileIds: [] }, 1)).data).toMatchObject({ fileIds: [] });
  });

  test("are found only under their own submission, and do not change in an archived programme", async ({ server }) => {
    const chair = await server.as(surface);
    const here = await seedStage(server);
    const there = await seedStage(server);
    const archived = await seedStage(server, { lifecycleStatus: "archived" });
    const alien = await seedStage(await server.other());
    const targets = [
      [there.submissionId, (await here.response("draft")).supplementResponseId, "not_found"],
      [alien.submissionId, (await alien.response("draft")).supplementResponseId, "not_found"],
      [here.submissionId, "sup_none", "not_found"],
      [archived.submissionId, (await archived.response("draft")).supplementResponseId, "program_archived"],
    ] as const;
    for (const [submissionId, supplementResponseId, code] of targets) {
      const target = { submissionId, supplementResponseId, version: 0 };
      const calls = [chair.close_supplement, chair.reopen_supplement, chair.update_supplement];
      for (const call of calls) {
        expect(await recordTrace(server, () => call(target))).toMatchObject({ problem: { code }, ...nothing });
      }
    }
    await expect(chair.list_submission_supplements({ submissionId: alien.submissionId })).rejects.toMatchProblem(
      "not_found",
    );
  });

  test("are listed by submission, newest first", async ({ server }) => {
    const chair = await server.as(surface);
    const { submissionId, response } = await seedStage(server);
    await (await seedStage(server)).response("draft");
    const rows = [await response("draft"), await response("closed")];
    const listed = await chair.list_submission_supplements({ submissionId });
    expect(listed).toHaveLength(3);
    expect(listed.slice(0, 2)).toEqual(rows.toReversed());
  });
});

/** The values that no change of status touches. */
function kept({ supplementResponseId, submissionId, title, fields, fileIds }: Row<"supplements">) {
  return { supplementResponseId, submissionId, title, fields, fileIds };
}

function timesAt(from: SupplementStatus, to: SupplementStatus) {
  const submitted = { submitted: now, closed: from === "submitted" ? then : null };
  return {
    submittedAt: to === "submitted" || to === "closed" ? submitted[to] : null,
    closedAt: to === "closed" ? now : null,
    reopenedAt: from === "closed" ? now : null,
  };
}
