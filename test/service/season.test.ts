import { expect } from "vitest";
import type { AuditEntry } from "../../src/contract/audit.ts";
import type { Row } from "../../src/store/tables.ts";
import { fieldIds } from "../support/data/seed-factory.ts";
import { type TestCaller, type TestServer, test } from "../support/servers/test-server.ts";
import { recordTrace } from "../support/trace.ts";

const noor = { firstName: "Noor", lastName: "Haddad" };
const ref = { namespace: "crm", objectType: "contact", externalId: "77" };
const personal = [
  "Haddad",
  "noor@example.org",
  "Rain harvest",
  "Okafor",
  "rita@example.org",
  "Well argued",
  "The panel",
];

interface Step {
  readonly audit: readonly string[];
  readonly events: readonly string[];
}

/** Everything that the API did, step by step, each a minute after the last. */
function diaryOf(server: TestServer) {
  const steps: Step[] = [];
  const act = async (call: () => Promise<unknown>, audit: string, events = "") => {
    server.clock.advance(60_000);
    const trace = await recordTrace(server, call);
    expect(trace.problem).toBeUndefined();
    const step = { audit: trace.audit, events: trace.events.map(({ eventType }) => eventType) };
    expect(step).toEqual({ audit: audit.split(" ").sort(), events: events.split(" ").filter(Boolean) });
    steps.push(step);
    return trace.data;
  };
  return { steps, act };
}

/** The acts of applicants, reviewers and staff elsewhere: here straight in the store. */
function outside(server: TestServer) {
  async function change<T extends "reviewers" | "submissions" | "assignments">(
    table: T,
    id: string,
    patch: Partial<Row<T>>,
  ) {
    await server.write(async (tx) => {
      const row = await tx.get(table, id);
      if (row) await tx.update(table, row, patch as Parameters<typeof tx.update<T>>[2]);
    });
  }
  return {
    accept: (reviewerId: string) => change("reviewers", reviewerId, { status: "active" }),
    pay: (submissionId: string) => change("submissions", submissionId, { paymentStatus: "succeeded" }),
    async review(assignment: Row<"assignments">, value: number) {
      const { assignmentId, submissionId, programId, roundId, reviewerId } = assignment;
      const scores = [{ criterionId: "crt_a", value, comment: "Well argued" }];
      const done = { scores, totalScore: value, weightedScore: value };
      await server.seed.review({ assignmentId, submissionId, programId, roundId, reviewerId, ...done });
      await change("assignments", assignmentId, { status: "completed", completedAt: server.clock.now().toISOString() });
    },
  };
}

async function trailOf(chair: TestCaller, filter: object): Promise<AuditEntry[]> {
  const entries: AuditEntry[] = [];
  let lastEvaluatedKey: string | undefined;
  do {
    const { data, page } = await chair.call("list_audit_entries", { ...filter, limit: 4, lastEvaluatedKey });
    entries.push(...data);
    lastEvaluatedKey = page?.lastEvaluatedKey;
  } while (lastEvaluatedKey !== undefined);
  return entries.reverse();
}

test("a whole season runs over MCP, from the first draft to the winner", async ({ server }) => {
  const chair = await server.as("MCP");
  const { steps, act } = diaryOf(server);
  const { accept, pay, review } = outside(server);
  const moved = "submission.state_changed";

  const { programId } = await server.seed.program({
    lifecycleStatus: "configured",
    feeRequired: true,
    currency: "EUR",
  });
  const { trackId, schemaId } = await server.seed.track({ programId, feeAmountMinor: 2500, intakeOpen: false });
  const first = await server.seed.round({ programId, trackId, sequence: 1, active: false });
  const second = await server.seed.round({ programId, trackId, sequence: 2 });
  const lifecycle = "program.lifecycle_status_changed";
  await act(
    () => chair.update_program({ programId, version: 0, lifecycleStatus: "underway" }),
    "program.updated",
    lifecycle,
  );
  await act(() => chair.update_track({ programId, trackId, version: 0, intakeOpen: true }), "track.updated");
  const opened = { programId, trackId, roundId: first.roundId, version: 0, active: true };
  await act(() => chair.update_round(opened), "round.updated");

  const given = { kinds: ["applicant"], provenance: { source: "crm" }, contactDetails: noor, externalRefs: [ref] };
  const person = await act(() => chair.create_person({ ...given, primaryEmail: "noor@example.org" }), "person.created");
  const draft = await act(
    () => chair.create_submission({ trackId, fields: {}, deadline: "2026-12-01T00:00:00Z", externalRef: ref }),
    "applicant.created payment.created submission.created",
    "submission.draft_created",
  );
  expect(draft).toMatchObject({ applicantPersonId: person.personId, innovatorName: "Noor Haddad" });
  const { submissionId } = draft;
  let { version } = draft as { version: number };
  const on = async (
    call: (target: { submissionId: string; version: number }) => Promise<unknown>,
    ...rest: [string, string?]
  ) => {
    const submission = await act(() => call({ submissionId, version }), ...rest);
    ({ version } = submission);
    return submission;
  };

  const fields = { [fieldIds.title]: "Rain harvest", [fieldIds.domain]: "science" };
  await on((target) => chair.update_submission_fields({ ...target, fields }), "submission.fields_updated");
  await expect(chair.submit_submission({ submissionId, version })).rejects.toMatchProblem("incomplete_application");
  await pay(submissionId);
  version += 1;
  const { supplementResponseId } = await server.seed.supplement({ submissionId, schemaId });
  await expect(chair.submit_submission({ submissionId, version })).rejects.toMatchProblem("supplement_warnings");
  const letter = { submissionId, supplementResponseId, version: 0, fields, status: "submitted" };
  await act(() => chair.update_supplement(letter), "supplement.updated", "supplement.response.submitted");
  await on(chair.submit_submission, "submission.submitted", `${moved} submission.submitted`);
  const mended = "The panel asks for a budget";
  await on((target) => chair.reopen_submission({ ...target, reason: mended }), "submission.reopened", moved);
  const budget = { [fieldIds.budget]: 900 };
  await on((target) => chair.update_submission({ ...target, fields: budget }), "submission.updated");
  await on(chair.submit_submission, "submission.submitted", `${moved} submission.submitted`);
  await on((target) => chair.screen_submission({ ...target, eligible: true }), "submission.screened", moved);
  const toFirst = { toRoundId: first.roundId };
  await on((target) => chair.advance_submission({ ...target, ...toFirst }), "submission.advanced", moved);

  const reviewers: string[] = [];
  const roundIds = [first.roundId, second.roundId];
  for (const email of ["rita@example.org", "omar@example.org", "sana@example.org"]) {
    const invitation = { email, lastName: "Okafor", roundIds };
    const sent = "email_send.created invitation.created reviewer.invited";
    const { reviewerId } = await act(() => chair.invite_reviewer(invitation), sent);
    await accept(reviewerId);
    reviewers.push(reviewerId);
  }
  const auto = { roundId: first.roundId, reviewsPerSubmission: 2 };
  const { created } = await act(() => chair.auto_assign_reviewers(auto), "assignment.created assignment.created");
  const spare = reviewers.find((id) => !created.some((row: Row<"assignments">) => row.reviewerId === id));
  const { assignmentId } = created[1];
  const swap = { assignmentId, version: 0, newReviewerId: spare };
  const swapped = await act(() => chair.reassign_assignment(swap), "assignment.reassigned assignment.reassigned");
  for (const [index, assignment] of [created[0], swapped].entries()) await review(assignment, 6 + 2 * index);
  const inFirst = { submissionId, roundId: first.roundId };
  const summary = await chair.get_submission_reviews_summary(inFirst);
  expect(summary).toMatchObject({ status: "complete" });
  expect(summary.meanScore ?? summary.weightedTotal.mean).toBe(7);
  const { feedbackId } = await server.seed.feedback({ ...inFirst, programId });
  await act(() => chair.release_feedback({ feedbackId }), "feedback.released", "feedback.released");

  const toSecond = { toRoundId: second.roundId };
  await on((target) => chair.advance_submission({ ...target, ...toSecond }), "submission.advanced", moved);
  const bulk = { roundId: second.roundId, submissionIds: [submissionId], reviewerIds: reviewers };
  await act(() => chair.bulk_assign_reviewers(bulk), "assignment.created assignment.created assignment.created");
  await on((target) => chair.set_submission_state({ ...target, state: "FINALIST" }), "submission.state_set", moved);
  const won = { state: "WINNER", reason: "The panel was of one mind" };
  const winner = await on((target) => chair.set_submission_state({ ...target, ...won }), "submission.state_set", moved);
  expect(winner).toMatchObject({
    state: "WINNER",
    previousState: "FINALIST",
    currentRoundId: second.roundId,
    title: "Rain harvest",
    eligible: true,
    paymentStatus: "succeeded",
  });
  const { version: programVersion } = await chair.get_program({ programId });
  for (const [index, lifecycleStatus] of ["completed", "archived"].entries()) {
    const change = { programId, version: programVersion + index, lifecycleStatus };
    await act(() => chair.update_program(change), "program.updated", lifecycle);
  }
  const late = chair.withdraw_submission({ submissionId, version, reason: "Too late" });
  await expect(late).rejects.toMatchProblem("program_archived");

  const trail = await trailOf(chair, {});
  const byTime = [...Map.groupBy(trail, (entry) => entry.occurredAt).values()];
  const shown = byTime.map((entries) => entries.map(({ action }) => action).sort());
  expect(shown).toEqual(steps.map(({ audit }) => audit));
  for (const filter of [{ programId }, { submissionId }, { programId, entityType: "round" }]) {
    const held = trail.filter((entry) =>
      Object.entries(filter).every(([name, value]) => entry[name as "action"] === value),
    );
    expect(await trailOf(chair, filter)).toEqual(held);
    expect(held.length).toBeGreaterThan(0);
  }
  expect(new Set(trail.map(({ tokenId }) => tokenId))).toEqual(new Set([person.createdBy]));
  expect(trail.every(({ requestId, status }) => requestId.startsWith("req_") && status === null)).toBe(true);

  const states = (await trailOf(chair, { submissionId, entityType: "submission" })).flatMap(({ changes }) =>
    changes.filter(({ path }) => path === "state").map(({ to }) => to),
  );
  const way = "DRAFT SUBMITTED DRAFT SUBMITTED ELIGIBLE IN_REVIEW FINALIST WINNER";
  expect(states.join(" ")).toBe(way);
  const sought = (await trailOf(chair, { submissionId, action: "submission.state_set" })).map(({ reason }) => reason);
  expect(sought).toEqual([null, won.reason]);
  await server.app.pipeline.flush();
  const refusals = await trailOf(chair, { submissionId, action: "submission.withdrawn" });
  expect(refusals).toMatchObject([{ status: 409, entityId: submissionId, changes: [] }]);

  const outbox = await server.outbox();
  expect(outbox.map(({ eventType }) => eventType)).toEqual(steps.flatMap(({ events }) => events));
  const written = JSON.stringify([outbox, trail.map(({ changes }) => changes)]);
  for (const word of personal) expect(written).not.toContain(word);
});
