import { describe, expect } from "vitest";
import type { AssignmentStatus } from "../../../src/contract/assignments.ts";
import type { Row } from "../../../src/store/tables.ts";
import { readPages } from "../../support/data/lists.ts";
import { surfaces, type TestServer, test } from "../../support/servers/test-server.ts";
import { nothing, recordTrace } from "../../support/trace.ts";

type Review = Row<"reviews">;

/** A submission with two rounds of its track, reviews made through assignments. */
async function seedStage({ seed }: TestServer) {
  const { programId, trackId } = await seed.track();
  const rounds = [
    await seed.round({ programId, trackId, sequence: 1 }),
    await seed.round({ programId, trackId, sequence: 2 }),
  ].map(({ roundId }) => roundId);
  const [first = "", second = ""] = rounds;
  const { submissionId } = await seed.submission({ trackId, state: "IN_REVIEW", currentRoundId: second });
  const assign = async (roundId: string, status: AssignmentStatus, given: Partial<Row<"assignments">> = {}) => {
    const { reviewerId } = await seed.reviewer();
    return seed.assignment({ programId, trackId, roundId, submissionId, reviewerId, status, ...given });
  };
  const review = async (roundId: string, given: Partial<Review> = {}) => {
    const status = given.status === "draft" ? "accepted" : "completed";
    const { assignmentId, reviewerId } = await assign(roundId, status);
    return seed.review({ assignmentId, submissionId, programId, roundId, reviewerId, ...given });
  };
  return { submissionId, trackId, first, second, assign, review };
}

const score = (criterionId: string, value: number | string | boolean) => ({ criterionId, value, comment: null });
const empty = { meanScore: null, medianScore: null, minScore: null, maxScore: null, stdDev: null, criteria: [] };

describe.each(surfaces)("reviews over %s", (surface) => {
  test("are listed by each filter, newest first, with scores and comments", async ({ server }) => {
    const chair = await server.as(surface, ["reviews:read"]);
    const stages = [await seedStage(server), await seedStage(server)];
    const rows: Review[] = [];
    for (const { review, first, second } of stages) {
      rows.push(
        await review(first),
        await review(second),
        await review(second, { status: "draft", submittedAt: null }),
      );
    }
    const foreign = await seedStage(await server.other());
    await foreign.review(foreign.first);
    const newest = rows.toReversed();
    const { submissionId, roundId } = rows[1] as Review;
    const { reviewerId, reviewId } = rows[2] as Review;
    const filters: readonly [query: Record<string, string>, holds: (row: Review) => boolean][] = [
      [{}, () => true],
      [{ submissionId }, (row) => row.submissionId === submissionId],
      [{ roundId }, (row) => row.roundId === roundId],
      [{ reviewerId }, (row) => row.reviewerId === reviewerId],
      [{ submissionId, roundId, reviewerId }, (row) => row.reviewId === reviewId],
      [{ submissionId, reviewerId: "rvw_none" }, () => false],
    ];
    for (const [query, holds] of filters) {
      const found = newest.filter(holds);
      expect(await chair.list_reviews(query), JSON.stringify(query)).toEqual(found);
      expect((await readPages(chair, "list_reviews", { ...query, limit: 2 })).flat()).toEqual(found);
    }
    expect(await chair.get_review({ reviewId })).toEqual(rows[2]);
    await expect(chair.list_reviews({ recommendation: "accept" })).rejects.toMatchProblem("validation_failed");
    const { page } = await chair.call("list_reviews", { limit: 1 });
    const elsewhere = { lastEvaluatedKey: page?.lastEvaluatedKey, roundId };
    await expect(chair.list_reviews(elsewhere)).rejects.toMatchProblem("invalid_cursor");
  });

  test("of a submission or round of another tenant or track are not found", async ({ server }) => {
    const chair = await server.as(surface);
    const [here, there] = [await seedStage(server), await seedStage(server)];
    const foreign = await seedStage(await server.other());
    const { reviewId } = await foreign.review(foreign.first);
    const { submissionId } = here;
    const calls = [
      () => chair.get_review({ reviewId }),
      () => chair.get_review({ reviewId: "rev_none" }),
      () => chair.get_submission_reviews_summary({ submissionId: foreign.submissionId }),
      () => chair.get_submission_reviews_summary({ submissionId, roundId: foreign.first }),
      () => chair.get_submission_reviews_summary({ submissionId, roundId: there.first }),
      () => chair.get_submission_reviews_summary({ submissionId, roundId: "rnd_none" }),
    ];
    for (const call of calls)
      expect(await recordTrace(server, call)).toMatchObject({ problem: { code: "not_found" }, ...nothing });
    expect(await chair.list_reviews({ submissionId: foreign.submissionId })).toEqual([]);
  });
});

describe("the summary of a submission's reviews over REST", () => {
  test("has the mean, median, range, deviation and criteria of the submitted reviews, by round and in total", async ({
    server,
  }) => {
    const chair = await server.as("REST", ["reviews:read"]);
    const { submissionId, first, second, review, assign } = await seedStage(server);
    const other = await seedStage(server);
    await other.review(other.first, { weightedScore: 1 });
    // Round 1: 2 and 4 by the weighted score. Round 2: 7, 10 by the total where there is no weighted one, and 8.5.
    await review(first, { weightedScore: 2, totalScore: 20, scores: [score("crt_a", 2)] });
    await review(first, { weightedScore: 4, totalScore: 40, scores: [score("crt_a", 4), score("crt_b", "late")] });
    await review(second, { weightedScore: 7, scores: [score("crt_a", 7), score("crt_b", true)] });
    await review(second, { weightedScore: null, totalScore: 10, scores: [score("crt_b", false), score("crt_a", 10)] });
    await review(second, { weightedScore: 8.5, scores: [score("crt_a", 8)] });
    await review(second, { status: "draft", weightedScore: 1, totalScore: 1, scores: [score("crt_c", 1)] });
    await assign(second, "assigned");
    await assign(second, "conflict");
    await assign(second, "declined");
    await assign(second, "cancelled", { active: false });
    await assign(second, "assigned", { active: false });
    const summary = (roundId?: string) => chair.get_submission_reviews_summary({ submissionId, roundId });
    expect(await summary(first)).toEqual({
      submissionId,
      roundId: first,
      assignedCount: 2,
      submittedCount: 2,
      incompleteCount: 0,
      conflictCount: 0,
      meanScore: 3,
      medianScore: 3,
      minScore: 2,
      maxScore: 4,
      stdDev: 1,
      criteria: [
        { criterionId: "crt_a", meanScore: 3, count: 2 },
        { criterionId: "crt_b", meanScore: null, count: 1 },
      ],
      status: "complete",
    });
    // (7 + 10 + 8.5) / 3 = 8.5; squares of -1.5, 1.5 and 0 make 4.5 / 3 = 1.5.
    expect(await summary(second)).toEqual({
      submissionId,
      roundId: second,
      assignedCount: 6,
      submittedCount: 3,
      incompleteCount: 3,
      conflictCount: 1,
      meanScore: 8.5,
      medianScore: 8.5,
      minScore: 7,
      maxScore: 10,
      stdDev: 1.2247,
      criteria: [
        { criterionId: "crt_a", meanScore: 8.3333, count: 3 },
        { criterionId: "crt_b", meanScore: null, count: 2 },
      ],
      status: "in_progress",
    });
    // 2, 4, 7, 8.5, 10: 31.5 / 5 = 6.3; squares 18.49 + 5.29 + 0.49 + 4.84 + 13.69 = 42.8 / 5 = 8.56.
    expect(await summary()).toMatchObject({
      roundId: null,
      assignedCount: 8,
      submittedCount: 5,
      incompleteCount: 3,
      meanScore: 6.3,
      medianScore: 7,
      minScore: 2,
      maxScore: 10,
      stdDev: 2.9257,
      criteria: [
        { criterionId: "crt_a", meanScore: 6.2, count: 5 },
        { criterionId: "crt_b", meanScore: null, count: 3 },
      ],
      status: "in_progress",
    });
  });

  type Stage = Awaited<ReturnType<typeof seedStage>>;
  const statuses: readonly [what: string, status: string, make: (stage: Stage) => Promise<unknown>][] = [
    ["nothing", "not_started", async () => undefined],
    ["an assignment", "not_started", ({ assign, first }) => assign(first, "accepted")],
    ["a draft", "in_progress", ({ review, first }) => review(first, { status: "draft" })],
    ["a submitted review", "complete", ({ review, first }) => review(first)],
    [
      "a submitted review and an assignment",
      "in_progress",
      async ({ review, assign, first }) => [await review(first), await assign(first, "assigned")],
    ],
    [
      "a submitted review and a declined assignment",
      "complete",
      async ({ review, assign, first }) => [await review(first), await assign(first, "declined")],
    ],
  ];

  test.for(statuses)("with %s is %s", async ([what, status, make], { server }) => {
    const chair = await server.as("REST");
    const stage = await seedStage(server);
    await make(stage);
    const { submissionId, first, second } = stage;
    const meanScore = status === "complete" || what.startsWith("a submitted") ? 7 : null;
    const summary = await chair.get_submission_reviews_summary({ submissionId, roundId: first });
    expect(summary).toMatchObject({ status, meanScore, medianScore: meanScore, stdDev: meanScore && 0 });
    const idle = await chair.get_submission_reviews_summary({ submissionId, roundId: second });
    const none = { assignedCount: 0, submittedCount: 0, incompleteCount: 0, conflictCount: 0 };
    expect(idle).toEqual({ submissionId, roundId: second, ...none, ...empty, status: "not_started" });
  });

  test("does not count the draft of a removed assignment", async ({ server }) => {
    const chair = await server.as("REST");
    const { submissionId, first, review } = await seedStage(server);
    const { assignmentId } = await review(first, { status: "draft" });
    const before = await chair.get_submission_reviews_summary({ submissionId });
    expect(before).toMatchObject({ status: "in_progress", assignedCount: 1 });
    await chair.delete_assignment({ assignmentId });
    const after = await chair.get_submission_reviews_summary({ submissionId });
    expect(after).toMatchObject({ status: "not_started", assignedCount: 0, ...empty });
  });
});
