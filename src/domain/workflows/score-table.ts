import type { Review } from "../../contract/reviews.ts";
import { computeStatistics } from "../scoring.ts";

/** The part of a review that a table of scores uses. */
export type ScoredReview = Pick<Review, "submissionId" | "scores" | "totalScore" | "weightedScore">;

/** Returns the score by which a review counts; null if nothing in it counts. */
export function getReviewScore({ weightedScore, totalScore }: Omit<ScoredReview, "scores">): number | null {
  return weightedScore ?? totalScore;
}

/** Returns the statistics of one submission's reviews: in total, and by the label of each criterion. */
export function summarizeScores(reviews: readonly ScoredReview[], labels: ReadonlyMap<string, string>) {
  const scores = dropNulls(reviews.map(getReviewScore));
  const answers = Map.groupBy(
    reviews.flatMap((review) => review.scores),
    ({ criterionId }) => criterionId,
  );
  const criteria = [...answers].map(([criterionId, given]) => {
    const numbers = given.flatMap(({ value }) => (typeof value === "number" ? value : []));
    return [labels.get(criterionId) ?? criterionId, { ...toStatistics(numbers), count: given.length }] as const;
  });
  return {
    weighted: toStatistics(dropNulls(reviews.map(({ weightedScore }) => weightedScore))),
    total: toStatistics(dropNulls(reviews.map(({ totalScore }) => totalScore))),
    spread: scores.length === 0 ? null : Math.round((Math.max(...scores) - Math.min(...scores)) * 10_000) / 10_000,
    criteria: Object.fromEntries(criteria),
  };
}

/** Returns labels of criteria by id. Labels that several criteria have are followed by the id. */
export function createLabels(
  criteria: readonly { readonly criterionId: string; readonly label: string }[],
): ReadonlyMap<string, string> {
  const byLabel = Map.groupBy(criteria, ({ label }) => label);
  return new Map(
    criteria.map(({ criterionId, label }) => [
      criterionId,
      (byLabel.get(label)?.length ?? 0) > 1 ? `${label} (${criterionId})` : label,
    ]),
  );
}

/** Returns the ranks of means in descending order: equal means share a rank, and the next one skips as many. */
export function computeRanks(means: readonly (number | null)[]): (number | null)[] {
  return means.map((mean) => (mean === null ? null : means.indexOf(mean) + 1));
}

function toStatistics(scores: readonly number[]) {
  const { meanScore, medianScore, minScore, maxScore, stdDev } = computeStatistics(scores);
  return { count: scores.length, mean: meanScore, median: medianScore, min: minScore, max: maxScore, stdDev };
}

function dropNulls(scores: readonly (number | null)[]): number[] {
  return scores.filter((score) => score !== null);
}
