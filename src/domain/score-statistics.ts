import type { LabelledReviewsSummary, Review, ReviewsSummary, ScoreStatistics } from "../contract/reviews.ts";
import { computeStatistics } from "./scoring.ts";

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
