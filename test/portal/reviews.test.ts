import { describe, expect } from "vitest";
import type { Row } from "../../src/store/tables.ts";
import { type TestServer, tenantTest as test } from "../support/servers/test-server.ts";
import { nothing, recordTrace } from "../support/trace.ts";
import { actAt, lastEntries, loadRow } from "./portal-actions.ts";

type Criterion = Row<"rubrics">["criteria"][number];

const base = { description: null, min: 0, max: 10, step: 0.5, weight: 1, required: true, options: null, order: 0 };
const criteria: Criterion[] = [
  { ...base, criterionId: "crt_need", label: "Need", type: "score", weight: 3 },
  { ...base, criterionId: "crt_ready", label: "Ready", type: "boolean" },
  { ...base, criterionId: "crt_grant", label: "Grant", type: "select", required: false, options: ["all", "part"] },
  { ...base, criterionId: "crt_note", label: "Note", type: "text", required: false },
];

async function assigned(
  server: TestServer,
  given: { round?: Partial<Row<"rounds">>; status?: "conflict" | "accepted" } = {},
) {
  const track = await server.seed.track();
  const { programId, trackId } = track;
  const { rubricId } = await server.seed.rubric({ criteria });
  // A later version of the rubric is not the round's.
  await server.seed.rubric({ rubricId, rubricVersion: 2, criteria: criteria.slice(0, 1) });
  const round = await server.seed.round({ programId, trackId, rubricId, rubricVersion: 1, ...given.round });
  const { roundId } = round;
  const submission = await server.seed.submission({ trackId, state: "IN_REVIEW", currentRoundId: roundId });
  const { reviewerId } = await server.seed.reviewer();
  const { submissionId } = submission;
  const status = given.status ?? "accepted";
  return server.seed.assignment({ programId, trackId, roundId, submissionId, reviewerId, status });
}

const scores = [
  { criterionId: "crt_need", value: 7.5, comment: "Well shown" },
  { criterionId: "crt_ready", value: true },
  { criterionId: "crt_grant", value: "part" },
  { criterionId: "crt_note", value: "See the minutes" },
];

test("a review is scored by its round's rubric, completes the assignment and sends an event", async ({ server }) => {
  const act = actAt(server);
  const assignment = await assigned(server);
  const { assignmentId, submissionId, programId, trackId, roundId, reviewerId } = assignment;
  server.clock.advance(1000);
  const now = server.clock.now().toISOString();
  const comments = { overallComment: "Worth funding", confidentialComment: "I know the town" };
  const given = { assignmentId, scores, recommendation: "accept", ...comments } as const;
  const trace = await recordTrace(server, () => act("submit_review", given));
  const { reviewId } = trace.data;
  expect(trace.data).toMatchObject({
    ...{ assignmentId, submissionId, programId, roundId, reviewerId, rubricVersion: 1, ...comments },
    ...{ status: "submitted", recommendation: "accept", submittedAt: now, createdBy: reviewerId },
    // (7.5 × 3 + 10 × 1) / 4
    ...{ totalScore: 17.5, weightedScore: 8.125 },
    scores: scores.map((score) => ({ comment: null, ...score })),
  });
  expect(trace.rows).toEqual(["assignments updated: completedAt status", "reviews inserted"]);
  expect(trace.audit).toEqual(["assignment.updated", "review.submitted"]);
  expect(trace.events).toEqual([
    expect.objectContaining({
      eventType: "review.submitted",
      data: {
        ...{ businessId: server.businessId, programId, submissionId, trackId, roundId, version: 0 },
        ...{ reviewId, assignmentId, reviewerId },
      },
    }),
  ]);
  expect(await loadRow(server, "assignments", assignmentId)).toMatchObject({ status: "completed", completedAt: now });
  const entries = await lastEntries(server, 2);
  for (const entry of entries) expect(entry).toMatchObject({ actorType: "reviewer", actorId: reviewerId });
  expect(JSON.stringify([entries, trace.events])).not.toMatch(/well shown|minutes|worth|town/i);
  const chair = await server.as("REST");
  const summary = await chair.get_submission_reviews_summary({ submissionId, roundId });
  expect(summary).toMatchObject({ submittedCount: 1, incompleteCount: 0, meanScore: 8.125, status: "complete" });

  const again = await recordTrace(server, () => act("submit_review", given));
  expect(again).toMatchObject({ problem: { code: "invalid_state_transition", details: { from: "completed" } } });
  expect(again).toMatchObject(nothing);
});

test("a draft is saved, edited and submitted as one review", async ({ server }) => {
  const act = actAt(server);
  const { assignmentId } = await assigned(server);
  const some = scores.slice(0, 1);
  const kept = await recordTrace(server, () => act("submit_review", { assignmentId, scores: some, draft: true }));
  const { reviewId } = kept.data;
  expect(kept).toMatchObject({
    data: { status: "draft", submittedAt: null, recommendation: "none", overallComment: null },
    rows: ["reviews inserted"],
    audit: ["review.saved"],
    events: [],
  });
  const noted = { assignmentId, scores: some, draft: true, overallComment: "First thoughts" };
  expect(await act("submit_review", noted)).toMatchObject({ reviewId, overallComment: "First thoughts" });
  const submitted = await act("submit_review", { assignmentId, scores });
  expect(submitted).toMatchObject({ reviewId, status: "submitted", overallComment: "First thoughts", version: 2 });
  const reviews = await server.app.store.reader(server.businessId).find("reviews", {}, { limit: 10 });
  expect(reviews).toHaveLength(1);
});

describe("scores that do not fit the rubric", () => {
  const need = (value: unknown) => [{ criterionId: "crt_need", value }, ...scores.slice(1)];
  const cases: readonly [name: string, scores: readonly object[], path: string][] = [
    ["above the scale", need(10.5), "scores.0.value"],
    ["below the scale", need(-0.5), "scores.0.value"],
    ["between two steps", need(7.3), "scores.0.value"],
    ["text for a number", need("7"), "scores.0.value"],
    ["no number", need(Number.NaN), "scores.0.value"],
    ["a number for yes or no", [scores[0], { criterionId: "crt_ready", value: 1 }] as object[], "scores.1.value"],
    ["no option", [...scores.slice(0, 2), { criterionId: "crt_grant", value: "half" }] as object[], "scores.2.value"],
    ["a number for text", [...scores.slice(0, 2), { criterionId: "crt_note", value: 3 }] as object[], "scores.2.value"],
    ["a criterion of none", [...scores, { criterionId: "crt_none", value: 3 }], "scores.4.criterionId"],
    ["a criterion twice", [...scores, scores[0] as object], "scores.4.criterionId"],
    ["a required one missing", scores.slice(1), "scores"],
    ["none at all", [], "scores"],
  ];

  test.for(cases)("%s", async ([, unfit, path], { server }) => {
    const act = actAt(server);
    const { assignmentId } = await assigned(server);
    const given = { assignmentId, scores: unfit as typeof scores };
    const trace = await recordTrace(server, () => act("submit_review", given));
    const { problem } = trace;
    expect(problem?.code).toBe("validation_failed");
    expect(problem?.details["issues"]).toContainEqual(expect.objectContaining({ path }));
    expect(trace).toMatchObject(nothing);
    const draft = await recordTrace(server, () => act("submit_review", { ...given, draft: true }));
    expect(draft.problem?.code).toBe(path === "scores" ? undefined : "validation_failed");
  });
});

test("a review outside its round and assignment is refused", async ({ server }) => {
  const act = actAt(server);
  const inactive = await assigned(server, { round: { active: false } });
  const torn = await assigned(server, { status: "conflict" });
  const cases = [
    [inactive.assignmentId, "round_inactive"],
    [torn.assignmentId, "invalid_state_transition"],
  ] as const;
  for (const [assignmentId, code] of cases) {
    const trace = await recordTrace(server, () => act("submit_review", { assignmentId, scores }));
    expect(trace).toMatchObject({ problem: { code }, ...nothing });
  }
});
