import { expect } from "vitest";
import { fieldIds } from "../support/data/seed-factory.ts";
import { tenantTest as test } from "../support/servers/test-server.ts";
import { nothing, recordTrace } from "../support/trace.ts";
import { actAt, lastEntries, loadRow } from "./portal-actions.ts";

test("staff ask for a supplement", async ({ server }) => {
  const act = actAt(server);
  const { submissionId, schemaId } = await server.seed.submission();
  const request = { submissionId, schemaId, title: "Letter of support", dueAt: "2026-12-01T00:00:00+01:00" };
  const trace = await recordTrace(server, () => act("request_supplement", request));
  expect(trace).toMatchObject({
    data: {
      ...{ submissionId, schemaId, title: "Letter of support", required: true, audience: "applicant" },
      ...{ status: "not_started", dueAt: "2026-11-30T23:00:00.000Z", fields: {}, fileIds: [] },
    },
    rows: ["supplements inserted"],
    audit: ["supplement.requested"],
    events: [],
  });
  const [entry] = await lastEntries(server, 1);
  expect(entry).toMatchObject({ actorType: "user", actorId: "command_line", tokenId: null });
  const { programId } = await server.seed.program({ lifecycleStatus: "archived" });
  const archived = await server.seed.submission({ trackId: (await server.seed.track({ programId })).trackId });
  const refusals = [
    [{ ...request, schemaId: "sch_none" }, "validation_failed"],
    [{ ...request, submissionId: "sub_none" }, "not_found"],
    [{ ...request, submissionId: archived.submissionId }, "program_archived"],
  ] as const;
  for (const [given, code] of refusals) {
    const refused = await recordTrace(server, () => act("request_supplement", given));
    expect(refused).toMatchObject({ problem: { code }, ...nothing });
  }
});

test("an applicant submits what is complete, once", async ({ server }) => {
  const act = actAt(server);
  const submission = await server.seed.submission({ state: "SUBMITTED" });
  const { submissionId, schemaId, programId, trackId, applicantId } = submission;
  const { supplementResponseId } = await server.seed.supplement({ submissionId, schemaId });
  const missing = await recordTrace(server, () => act("submit_supplement", { supplementResponseId }));
  const details = { missing: [fieldIds.title] };
  expect(missing).toMatchObject({ problem: { code: "incomplete_application", details }, ...nothing });

  const fields = { [fieldIds.title]: "We support it" };
  server.clock.advance(1000);
  const trace = await recordTrace(server, () => act("submit_supplement", { supplementResponseId, fields }));
  const now = server.clock.now().toISOString();
  expect(trace).toMatchObject({
    data: { supplementResponseId, fields, status: "submitted", submittedAt: now, updatedBy: applicantId },
    audit: ["supplement.submitted"],
    events: [
      {
        eventType: "supplement.response.submitted",
        data: { programId, trackId, submissionId, roundId: null, supplementResponseId },
      },
    ],
  });
  const [entry] = await lastEntries(server, 1);
  expect(entry).toMatchObject({ actorType: "applicant", actorId: applicantId });
  expect(JSON.stringify([entry, trace.events])).not.toMatch(/support it/);

  for (const status of ["submitted", "closed"] as const) {
    const { supplementResponseId: done } = await server.seed.supplement({ submissionId, schemaId, status });
    const again = await recordTrace(server, () => act("submit_supplement", { supplementResponseId: done, fields }));
    expect(again.problem).toMatchObject({ code: "invalid_state_transition", details: { from: status } });
    expect(again).toMatchObject(nothing);
  }
  expect(await loadRow(server, "supplements", supplementResponseId)).toMatchObject({ version: 1 });
  const other = await server.other();
  const theirs = await other.seed.submission();
  const foreign = await other.seed.supplement({ submissionId: theirs.submissionId, schemaId: theirs.schemaId });
  const unknown = act("submit_supplement", { supplementResponseId: foreign.supplementResponseId, fields });
  await expect(unknown).rejects.toMatchProblem("not_found");
});
