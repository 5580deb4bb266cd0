import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Review } from "../../src/contract/reviews.ts";
import type { Criterion, Rubric } from "../../src/contract/schemas.ts";
import { scoreReview, summarize } from "../../src/domain/scoring.ts";

function criterion(criterionId: string, change: Partial<Criterion> = {}): Criterion {
  return {
    criterionId,
    label: criterionId,
    description: null,
    type: "score",
    min: 0,
    max: 10,
    step: 1,
    weight: 1,
    required: true,
    options: null,
    order: 0,
    ...change,
  };
}

const criteria = [
  criterion("impact", { weight: 3 }),
  criterion("budget"),
  criterion("open", { type: "boolean", min: 0, max: 4, weight: 0 }),
  criterion("notes", { type: "text" }),
];
const scores = [
  { criterionId: "impact", value: 8 },
  { criterionId: "budget", value: 4 },
  { criterionId: "open", value: true },
  { criterionId: "notes", value: "9" },
  { criterionId: "unknown", value: 100 },
];

describe("a review", () => {
  test.each<[Rubric["scoringMethod"], number | null]>([
    ["sum", null],
    ["mean", 5.3333],
    ["weighted_mean", 7],
  ])("under %s", (scoringMethod, weightedScore) => {
    expect(scoreReview({ criteria, scoringMethod }, scores)).toEqual({ totalScore: 16, weightedScore });
  });

  test("without anything that counts has no score", () => {
    const nothing = { totalScore: null, weightedScore: null };
    expect(scoreReview({ criteria, scoringMethod: "mean" }, [])).toEqual(nothing);
    expect(scoreReview({ criteria, scoringMethod: "sum" }, [{ criterionId: "notes", value: "fine" }])).toEqual(nothing);
    expect(scoreReview({ criteria, scoringMethod: "sum" }, [{ criterionId: "impact", value: "8" }])).toEqual(nothing);
  });

  test("leaves unanswered criteria out of the mean", () => {
    const half = scoreReview({ criteria, scoringMethod: "weighted_mean" }, [{ criterionId: "impact", value: 8 }]);
    expect(half).toEqual({ totalScore: 8, weightedScore: 8 });
  });

  test("has a mean between its lowest and its highest points, whatever the weights", () => {
    const answers = fc.array(
      fc.record({ value: fc.integer({ min: 0, max: 10 }), weight: fc.integer({ min: 0, max: 5 }) }),
      {
        minLength: 1,
        maxLength: 10,
      },
    );
    fc.assert(
      fc.property(answers, fc.constantFrom("mean" as const, "weighted_mean" as const), (drawn, scoringMethod) => {
        const rubric = {
          scoringMethod,
          criteria: drawn.map(({ weight }, index) => criterion(`c${index}`, { weight })),
        };
        const given = drawn.map(({ value }, index) => ({ criterionId: `c${index}`, value }));
        const { totalScore, weightedScore } = scoreReview(rubric, given);
        const values = drawn.map(({ value }) => value);
        expect(weightedScore).toBeGreaterThanOrEqual(Math.min(...values));
        expect(weightedScore).toBeLessThanOrEqual(Math.max(...values));
        expect(totalScore).toBe(values.reduce((sum, value) => sum + value, 0));
      }),
    );
  });
});

describe("a summary", () => {
  const of = { submissionId: "sub_1", roundId: null };
  type Summed = Pick<Review, "status" | "scores" | "totalScore" | "weightedScore">;
  const review = (totalScore: number | null, change: Partial<Summed> = {}): Summed => ({
    status: "submitted",
    scores: [],
    totalScore,
    weightedScore: null,
    ...change,
  });

  test("of nothing has no scores", () => {
    expect(summarize(of, [], [])).toEqual({
      ...of,
      assignedCount: 0,
      submittedCount: 0,
      incompleteCount: 0,
      conflictCount: 0,
      meanScore: null,
      medianScore: null,
      minScore: null,
      maxScore: null,
      stdDev: null,
      criteria: [],
      status: "not_started",
    });
  });

  test("counts assignments and takes each submitted review's score by its rubric's method", () => {
    const assignments = (["completed", "completed", "assigned", "conflict"] as const).map((status) => ({ status }));
    const reviews = [
      review(30, { weightedScore: 2 }),
      review(4),
      review(9),
      review(1000, { status: "draft" }),
      review(null),
    ];
    expect(summarize({ ...of, roundId: "rnd_1" }, assignments, reviews)).toMatchObject({
      roundId: "rnd_1",
      assignedCount: 4,
      submittedCount: 4,
      incompleteCount: 2,
      conflictCount: 1,
      meanScore: 5,
      medianScore: 4,
      minScore: 2,
      maxScore: 9,
      stdDev: 2.9439,
      status: "in_progress",
    });
  });

  test.each([
    ["not_started", ["assigned"], []],
    ["in_progress", ["accepted"], [review(1, { status: "draft" })]],
    ["in_progress", ["completed", "assigned"], [review(1)]],
    ["complete", ["completed"], [review(1)]],
    ["complete", [], [review(1)]],
  ] as const)("is %s with assignments %j", (status, statuses, reviews) => {
    expect(
      summarize(
        of,
        statuses.map((each) => ({ status: each })),
        reviews,
      ).status,
    ).toBe(status);
  });

  test("means each criterion's numbers over submitted reviews", () => {
    const answered = (...values: [string, number | string][]) =>
      values.map(([criterionId, value]) => ({ criterionId, value, comment: null }));
    const reviews = [
      review(1, { scores: answered(["b", 1], ["a", 2], ["text", "well"]) }),
      review(1, { scores: answered(["b", 2]) }),
      review(1, { scores: answered(["b", 100]), status: "draft" }),
    ];
    expect(summarize(of, [], reviews).criteria).toEqual([
      { criterionId: "b", meanScore: 1.5, count: 2 },
      { criterionId: "a", meanScore: 2, count: 1 },
      { criterionId: "text", meanScore: null, count: 1 },
    ]);
  });

  test("orders its statistics and does not depend on the order of reviews", () => {
    const totals = fc.array(fc.integer({ min: -1000, max: 1000 }), { minLength: 1, maxLength: 20 });
    fc.assert(
      fc.property(totals, (drawn) => {
        const summary = summarize(
          of,
          [],
          drawn.map((total) => review(total)),
        );
        const { minScore, meanScore, medianScore, maxScore, stdDev } = summary;
        for (const middle of [meanScore, medianScore]) {
          expect(minScore).toBeLessThanOrEqual(middle ?? Number.NaN);
          expect(middle).toBeLessThanOrEqual(maxScore ?? Number.NaN);
        }
        expect(stdDev).toBeGreaterThanOrEqual(0);
        expect(stdDev === 0).toBe(new Set(drawn).size === 1);
        expect(
          summarize(
            of,
            [],
            drawn.toReversed().map((total) => review(total)),
          ),
        ).toEqual(summary);
      }),
    );
  });
});
