import type { Assignment } from "../contract/assignments.ts";
import type { LabelledReviewsSummary, Review, ReviewsSummary, ScoreStatistics } from "../contract/reviews.ts";
import type { Criterion, Rubric } from "../contract/schemas.ts";
import { incompleteStatuses } from "./assignments.ts";

type Score = Pick<Review["scores"][number], "criterionId" | "value">;

/**
 * Scores a review by a rubric. `totalScore` is the sum of points, `weightedScore` the rubric's mean (null under `sum`),
 * so that `weightedScore ?? totalScore` is the review's score. Numbers count for `score` criteria; true and false count
 * as a criterion's `max` and `min`; text and choices do not count. Both are null if nothing counts.
 */
export function scoreReview(
  rubric: Pick<Rubric, "criteria" | "scoringMethod">,
  scores: readonly Score[],
): Pick<Review, "totalScore" | "weightedScore"> {
  const valuesById = new Map(scores.map(({ criterionId, value }) => [criterionId, value]));
  const counted = rubric.criteria.flatMap((criterion) => {
    const points = computePoints(criterion, valuesById.get(criterion.criterionId));
    return points === undefined ? [] : [{ points, weight: criterion.weight }];
  });
  if (counted.length === 0) return { totalScore: null, weightedScore: null };
  const totalScore = round(sum(counted.map(({ points }) => points)));
  if (rubric.scoringMethod === "sum") return { totalScore, weightedScore: null };
  // If all weights are 0, the criteria are weighted equally, because a weighted mean needs a positive weight.
  const usesWeights = rubric.scoringMethod === "weighted_mean" && counted.some(({ weight }) => weight > 0);
  const weights = counted.map(({ weight }) => (usesWeights ? weight : 1));
  const products = counted.map(({ points }, index) => points * (weights[index] ?? 0));
  return { totalScore, weightedScore: round(sum(products) / sum(weights)) };
}

function computePoints({ type, min, max }: Criterion, value: Score["value"] | undefined): number | undefined {
  if (type === "score" && typeof value === "number") return value;
  if (type === "boolean" && typeof value === "boolean") return value ? max : min;
  return undefined;
}

/**
 * Summarises a submission's reviews, of one round or of all if `roundId` is null. Statistics use the scores of
 * submitted reviews, rounded to 4 decimals; `stdDev` is that of the population. They are null without submitted
 * reviews. A criterion's `count` is the number of submitted reviews that answered it; its mean is that of its numbers.
 */
export function summarize(
  of: Pick<ReviewsSummary, "submissionId" | "roundId">,
  assignments: readonly Pick<Assignment, "status">[],
  reviews: readonly Pick<Review, "status" | "scores" | "totalScore" | "weightedScore">[],
): ReviewsSummary {
  const submitted = reviews.filter((review) => review.status === "submitted");
  const incomplete = assignments.filter(({ status }) => (incompleteStatuses as readonly string[]).includes(status));
  return {
    submissionId: of.submissionId,
    roundId: of.roundId,
    assignedCount: assignments.length,
    submittedCount: submitted.length,
    incompleteCount: incomplete.length,
    conflictCount: assignments.filter(({ status }) => status === "conflict").length,
    ...computeStatistics(submitted.flatMap(({ weightedScore, totalScore }) => weightedScore ?? totalScore ?? [])),
    criteria: summarizeCriteria(submitted),
    status:
      reviews.length === 0
        ? "not_started"
        : submitted.length > 0 && incomplete.length === 0
          ? "complete"
          : "in_progress",
  };
}

/** Computes statistics of scores, rounded to 4 decimals; all null without scores. */
export function computeStatistics(scores: readonly number[]) {
  const sorted = scores.toSorted((a, b) => a - b);
  const mean = computeMean(sorted);
  if (mean === null) return { meanScore: null, medianScore: null, minScore: null, maxScore: null, stdDev: null };
  const middle = sorted.slice(Math.ceil(sorted.length / 2) - 1, Math.floor(sorted.length / 2) + 1);
  const variance = sum(sorted.map((score) => (score - mean) ** 2)) / sorted.length;
  return {
    meanScore: round(mean),
    medianScore: round(sum(middle) / middle.length),
    minScore: round(sorted[0] ?? mean),
    maxScore: round(sorted.at(-1) ?? mean),
    stdDev: round(Math.sqrt(variance)),
  };
}

type ScoredReview = Pick<Review, "status" | "scores" | "totalScore" | "weightedScore">;

/**
 * Adds statistics of each criterion and of both totals to a submission's summary, from its reviews. Only submitted
 * reviews count. A criterion's `n` counts its answers; texts and choices have no statistics.
 * @param labels - labels of criteria by id
 */
export function addScoreStatistics(
  summary: ReviewsSummary,
  reviews: readonly ScoredReview[],
  labels: ReadonlyMap<string, string>,
): LabelledReviewsSummary {
  const { submissionId, roundId, status, assignedCount, submittedCount, incompleteCount, conflictCount } = summary;
  const submitted = reviews.filter((review) => review.status === "submitted");
  const answers = Map.groupBy(
    submitted.flatMap(({ scores }) => scores),
    ({ criterionId }) => criterionId,
  );
  return {
    ...{ submissionId, roundId, status, assignedCount, submittedCount, incompleteCount, conflictCount },
    weightedTotal: toScoreStatistics(submitted.flatMap(({ weightedScore }) => weightedScore ?? [])),
    plainTotal: toScoreStatistics(submitted.flatMap(({ totalScore }) => totalScore ?? [])),
    criteria: [...answers].map(([criterionId, scores]) => ({
      criterionId,
      label: labels.get(criterionId) ?? null,
      ...toScoreStatistics(scores.flatMap(({ value }) => (typeof value === "number" ? value : []))),
      n: scores.length,
    })),
  };
}

function toScoreStatistics(scores: readonly number[]): ScoreStatistics {
  const { meanScore, medianScore, minScore, maxScore } = computeStatistics(scores);
  return { n: scores.length, mean: meanScore, median: medianScore, lowest: minScore, highest: maxScore };
}

/** Summarises each criterion, in the order in which the reviews name them. */
function summarizeCriteria(submitted: readonly Pick<Review, "scores">[]): ReviewsSummary["criteria"] {
  const answers = Map.groupBy(
    submitted.flatMap(({ scores }) => scores),
    ({ criterionId }) => criterionId,
  );
  return [...answers].map(([criterionId, scores]) => {
    const mean = computeMean(scores.flatMap(({ value }) => (typeof value === "number" ? value : [])));
    return { criterionId, meanScore: mean === null ? null : round(mean), count: scores.length };
  });
}

function computeMean(numbers: readonly number[]): number | null {
  return numbers.length === 0 ? null : sum(numbers) / numbers.length;
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}

function round(score: number): number {
  return Math.round(score * 10_000) / 10_000;
}
