import { expect } from "vitest";
import { fieldIds } from "../support/data/seed-factory.ts";
import { tenantTest as test } from "../support/servers/test-server.ts";
import { nothing, recordTrace } from "../support/trace.ts";
import { actAt, lastEntries, loadRow } from "./portal-actions.ts";

const fields = { [fieldIds.title]: "Rain harvest" };
const deadline = "2026-12-24T12:00:00.000Z";

test("a first draft has the portal as its source, owes the fee, and sends an event", async ({ server }) => {
  const act = actAt(server);
  const { programId } = await server.seed.program({ feeRequired: true, currency: "EUR" });
  const { trackId } = await server.seed.track({ programId, feeAmountMinor: 2500, intakeCloseDate: deadline });
  const applicant = await server.seed.applicant({ trackIds: [trackId], programIds: [programId] });
  const { applicantId } = applicant;
  const trace = await recordTrace(server, () => act("save_draft", { trackId, applicantId, fields }));
  const { submissionId } = trace.data;
  expect(trace.data).toMatchObject({
    ...{ applicantId, programId, trackId, fields, deadline, title: "Rain harvest" },
    ...{ state: "DRAFT", source: "portal", paymentStatus: "pending", createdBy: applicantId },
    ...{ innovatorId: applicant.innovatorId, innovatorEmail: applicant.email, innovatorName: applicant.name },
  });
  expect(trace.rows).toEqual(["payments inserted", "submissions inserted"]);
  expect(trace.audit).toEqual(["payment.created", "submission.created"]);
  const ids = { businessId: server.businessId, programId, trackId, submissionId, roundId: null, version: 0 };
  expect(trace.events).toMatchObject([{ eventType: "submission.draft_created", data: { ...ids, source: "portal" } }]);
  for (const entry of await lastEntries(server, 2)) {
    expect(entry).toMatchObject({ actorType: "applicant", actorId: applicantId, tokenId: null });
    expect(JSON.stringify(entry)).not.toMatch(/\b(?:rain|ada)\b/i);
  }
});

test("a draft is saved again by its applicant, field by field", async ({ server }) => {
  const act = actAt(server);
  const { submissionId, applicantId } = await server.seed.submission({ fields, applicantId: "app_1" });
  const change = { [fieldIds.domain]: "arts", [fieldIds.title]: null };
  const trace = await recordTrace(server, () => act("save_draft", { submissionId, fields: change }));
  expect(trace).toMatchObject({
    data: { submissionId, fields: { [fieldIds.domain]: "arts" }, title: null, version: 1, updatedBy: applicantId },
    audit: ["submission.fields_updated"],
    events: [],
  });
  const unchanged = await recordTrace(server, () => act("save_draft", { submissionId }));
  expect(unchanged).toMatchObject({ data: { version: 1 }, ...nothing });
});

test("a draft is refused for another applicant, after the deadline, and with invalid fields", async ({ server }) => {
  const act = actAt(server);
  const { trackId } = await server.seed.track({ intakeCloseDate: deadline });
  const closed = await server.seed.track({ intakeOpen: false, intakeCloseDate: deadline });
  const endless = await server.seed.track();
  const { programId } = await server.seed.program({ lifecycleStatus: "archived" });
  const archived = await server.seed.track({ programId, intakeCloseDate: deadline });
  const trackIds = [trackId, closed.trackId, endless.trackId, archived.trackId];
  const { applicantId } = await server.seed.applicant({ trackIds });
  const stranger = await server.seed.applicant({ email: "bo@example.org" });
  const late = await server.seed.submission({ deadline: "2026-11-20T08:59:59.000Z" });
  const submitted = await server.seed.submission({ state: "SUBMITTED" });
  const foreign = await (await server.other()).seed.submission();
  const issue = (path: string) => ({ issues: [expect.objectContaining({ path })] });
  const cases = [
    [{ trackId, applicantId: stranger.applicantId }, "validation_failed", issue("applicantId")],
    [{ trackId, applicantId, fields: { fld_none: 1 } }, "validation_failed", issue("fields.fld_none")],
    [{ trackId: endless.trackId, applicantId }, "validation_failed", issue("deadline")],
    [{ trackId: closed.trackId, applicantId }, "intake_closed", {}],
    [{ trackId: archived.trackId, applicantId }, "program_archived", {}],
    [{ trackId, applicantId: "app_none" }, "not_found", {}],
    [{ trackId: "trk_none", applicantId }, "not_found", {}],
    [{ submissionId: late.submissionId, fields }, "deadline_passed", {}],
    [{ submissionId: submitted.submissionId, fields }, "invalid_state_transition", { from: "SUBMITTED" }],
    [{ submissionId: foreign.submissionId, fields }, "not_found", {}],
    [{ submissionId: submitted.submissionId, trackId }, "validation_failed", {}],
    [{ submissionId: submitted.submissionId, deadline }, "validation_failed", issue("deadline")],
    [{ trackId }, "validation_failed", {}],
    [{}, "validation_failed", {}],
  ] as const;
  for (const [given, code, details] of cases) {
    const trace = await recordTrace(server, () => act("save_draft", given));
    expect([given, trace]).toMatchObject([given, { problem: { code, details }, ...nothing }]);
  }
  const own = await act("save_draft", { trackId: endless.trackId, applicantId, deadline });
  expect(await loadRow(server, "submissions", own.submissionId)).toMatchObject({ deadline, fields: {} });
});
