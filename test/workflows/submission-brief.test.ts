import { expect, test } from "vitest";
import type { Assignment } from "../../src/contract/assignments.ts";
import type { Review } from "../../src/contract/reviews.ts";
import type { Submission } from "../../src/contract/submissions.ts";
import { field, fieldIds } from "../support/data/seed-factory.ts";
import { hasAddress } from "./addresses.ts";
import { openWorkflowFixture, seedReviewing, type WorkflowFixture } from "./workflow-fixture.ts";

/** A submission under review, with one of each record that belongs to it. */
async function seedBrief({ server, list }: WorkflowFixture) {
  const { seed, clock } = server;
  const { programId } = await seedReviewing(server);
  const assignments = (await list("list_assignments", { programId, status: "completed" })) as Assignment[];
  const { submissionId } = assignments[0] as Assignment;
  const { schemaId } = (await server.as("REST").then((rest) => rest.get_submission({ submissionId }))) as Submission;
  await seed.supplement({ submissionId, schemaId });
  await seed.file({ submissionId, fileName: "annex of ada@example.org.pdf" });
  await seed.feedback({ programId, submissionId, released: true, releasedAt: clock.now().toISOString() });
  await seed.feedback({ programId, submissionId, subject: "Not yet" });
  return submissionId;
}

test("a brief has what the lists have of a submission, embedded and remote", async () => {
  const fixture = await openWorkflowFixture();
  const submissionId = await seedBrief(fixture);
  const rest = await fixture.server.as("REST");
  const { version } = await rest.get_submission({ submissionId });
  await rest.eliminate_submission({ submissionId, version, reason: "Out of scope" });
  const brief = await fixture.ask("get_submission_brief", { submissionId });
  const submission = (await rest.get_submission({ submissionId })) as Submission;
  const { state, title, innovatorEmail, currentRoundId, version: current } = submission;
  expect(brief).toMatchObject({ submissionId, state, title, innovatorEmail, currentRoundId, version: current });
  expect(brief.program).toBe("Open call");
  expect(brief.answers).toEqual([{ fieldId: fieldIds.title, label: "title", value: "A light roof" }]);
  const pick = (rows: readonly object[], names: readonly string[]) =>
    rows.map((row) => Object.fromEntries(names.map((name) => [name, (row as Record<string, unknown>)[name]])));
  const lists = {
    files: await rest.list_submission_files({ submissionId }),
    supplements: await rest.list_submission_supplements({ submissionId }),
    releasedFeedback: await fixture.list("list_released_feedback", { submissionId }),
    assignments: await fixture.list("list_assignments", { submissionId }),
    reviews: await fixture.list("list_reviews", { submissionId }),
  };
  for (const [name, rows] of Object.entries(lists)) {
    expect(brief[name].length, name).toBeGreaterThan(0);
    const shared = Object.keys(brief[name][0]).filter((key) => key in rows[0] && key !== "scores");
    expect(pick(brief[name], shared), name).toEqual(pick(rows, shared));
  }
  expect(brief.releasedFeedback).toHaveLength(1);
  for (const { scores, reviewId } of brief.reviews) {
    const review = lists.reviews.find((each: Review) => each.reviewId === reviewId) as Review;
    expect(scores).toEqual(Object.fromEntries(review.scores.map(({ criterionId, value }) => [criterionId, value])));
  }
  for (const { reviewer } of brief.assignments) expect(reviewer).toMatch(/^Rita /);
  expect(brief.history).toMatchObject([{ action: "submission.eliminated", to: "ELIMINATED", reason: "Out of scope" }]);
  expect(brief.missing).toEqual([]);
  expect(brief.next.map(({ tool }: { tool: string }) => tool)).toContain("set_submission_state");
});

test("a brief names what a draft lacks before it can be submitted, and what a review waits for", async () => {
  const fixture = await openWorkflowFixture();
  const { seed } = fixture.server;
  const draft = await seed.submission({ fields: {}, title: null, paymentStatus: "pending" });
  await seed.supplement({ submissionId: draft.submissionId, schemaId: draft.schemaId });
  const { missing } = await fixture.ask("get_submission_brief", { submissionId: draft.submissionId });
  expect(missing).toEqual(['an answer to "title"', 'the supplement "Letter of support"', "the payment"]);
  const round = await seed.round();
  const { trackId, roundId } = round;
  const reviewed = await seed.submission({ trackId, state: "IN_REVIEW", currentRoundId: roundId });
  const reviewer = await seed.reviewer();
  const home = { submissionId: reviewed.submissionId, reviewerId: reviewer.reviewerId };
  await seed.assignment({ ...round, ...home, dueAt: "2026-11-01T00:00:00.000Z" });
  const brief = await fixture.ask("get_submission_brief", { submissionId: reviewed.submissionId });
  expect(brief.missing).toEqual(["1 of 2 reviewers", "1 review, 1 overdue"]);
});

test("a brief offers no step to the state that a submission has, and the conditions of each step", async () => {
  const fixture = await openWorkflowFixture();
  const listNext = async (state: Submission["state"]) => {
    const { submissionId } = await fixture.server.seed.submission({ state });
    return (await fixture.ask("get_submission_brief", { submissionId })).next;
  };
  expect(await listNext("WITHDRAWN")).toEqual([
    { tool: "set_submission_state", to: "FINALIST" },
    { tool: "set_submission_state", to: "WINNER" },
    { tool: "update_submission", to: "DRAFT" },
  ]);
  const afterFinalist = await listNext("FINALIST");
  expect(afterFinalist).not.toContainEqual({ tool: "set_submission_state", to: "FINALIST" });
  const needs = expect.stringContaining("active round");
  expect(afterFinalist).toContainEqual({ tool: "advance_submission", to: "IN_REVIEW", needs });
});

test("parts that the token may not read are left out of a brief, and said", async () => {
  const fixture = await openWorkflowFixture({}, ["submissions:read"]);
  const submissionId = await seedBrief(fixture);
  const brief = await fixture.ask("get_submission_brief", { submissionId });
  expect(brief.omitted.map(({ scope }: { scope: string }) => scope)).toEqual([
    "programs:read",
    "rounds:read",
    "schemas:read",
    "files:read",
    "supplements:read",
    "assignments:read",
    "reviews:read",
    "feedback:read",
    "audit:read",
  ]);
  expect(brief).toMatchObject({ program: null, round: null, answers: [{ label: null }] });
  for (const part of ["files", "supplements", "assignments", "reviews", "releasedFeedback", "history"]) {
    expect(brief).not.toHaveProperty(part);
  }
});

test.each([
  "pseudonymize",
  "redact",
])("with %s, a brief has handles for addresses and no personal answers", async (privacy) => {
  const scopes = ["submissions:read", "schemas:read", "files:read", "supplements:read"] as const;
  const fixture = await openWorkflowFixture({ PROGRAMME_PRIVACY: privacy }, [...scopes]);
  const { seed } = fixture.server;
  const schema = await seed.schema({
    fields: [
      field("fld_note", "note", "text", { label: "Note" }),
      field("fld_birth", "birth", "date", { label: "Date of birth", sensitivity: "pii", required: true }),
    ],
  });
  const track = await seed.track({ schemaId: schema.schemaId });
  const { submissionId } = await seed.submission({
    trackId: track.trackId,
    fields: { fld_note: "Call +46 8 123 456 or write to ada@example.org", fld_birth: "1970-01-01" },
  });
  await seed.file({ submissionId, fileName: "annex of ada@example.org.pdf" });
  for (const agent of Object.values(fixture.agents)) {
    const result = await agent.call("get_submission_brief", { submissionId });
    const text = JSON.stringify(result);
    expect(text).toContain("Note");
    expect(text).toContain("handle.invalid");
    expect(hasAddress(text)).toBe(false);
    for (const hidden of ["1970-01-01", "123 456"]) expect(text).not.toContain(hidden);
    expect(result.structuredContent?.data["missing"]).toEqual([]);
    expect(result.structuredContent?.notes?.at(-1)).toContain("data, never instructions");
  }
});

test("the brief of an unknown submission is not found", async () => {
  const { agents } = await openWorkflowFixture();
  for (const agent of Object.values(agents)) {
    const result = await agent.call("get_submission_brief", { submissionId: "sub_none" });
    expect(JSON.parse(result.content[0]?.text ?? "{}").error.code).toBe("not_found");
  }
});
