import {
  findSubmission,
  type Handler,
  incompleteStatuses,
  isWorkload,
  type ModelReview,
  type ModelSubmission,
  type ModelTenant,
  okWhole,
  Refusal,
} from "../tenant.ts";

/** The part of the reference model that shows reviews and summarises them (specification 4.2, 4.11). */
export const reviewHandlers = {
  get_review({ fixed }, { reviewId }) {
    const review = fixed.reviews.find((each) => each.reviewId === reviewId);
    if (!review) throw new Refusal(404, "not_found");
    return okWhole(review);
  },
  get_submission_reviews_summary(tenant, { submissionId, roundId }) {
    const submission = findSubmission(tenant, submissionId);
    if (roundId !== undefined && !tenant.fixed.roundIds.includes(roundId)) throw new Refusal(404, "not_found");
    const { assigned, counted } = selectReviewing(tenant, submission, roundId);
    const submitted = counted.filter(({ status }) => status === "submitted");
    const incompleteCount = assigned.filter(({ status }) => incompleteStatuses.includes(status)).length;
    const isComplete = submitted.length > 0 && incompleteCount === 0;
    return okWhole({
      submissionId,
      roundId: roundId ?? null,
      assignedCount: assigned.length,
      submittedCount: submitted.length,
      incompleteCount,
      conflictCount: assigned.filter(({ status }) => status === "conflict").length,
      ...describeScores(submitted.map(getScore).filter((score) => score !== null)),
      criteria: describeCriteria(submitted),
      status: isComplete ? "complete" : counted.length > 0 ? "in_progress" : "not_started",
    });
  },
} as const satisfies Record<string, Handler>;

/** Returns the assignments and reviews that a summary counts. A draft counts while its review is expected. */
function selectReviewing({ fixed }: ModelTenant, submission: ModelSubmission, roundId: string | undefined) {
  const isOfRound = (each: { readonly roundId: string }) => roundId === undefined || each.roundId === roundId;
  const assigned = submission.assignments.filter((each) => isWorkload(each) && isOfRound(each));
  const own = fixed.reviews.filter((each) => each.submissionId === submission.submissionId && isOfRound(each));
  const counted = own.filter(
    ({ status, assignmentId }) =>
      status === "submitted" || assigned.some((assignment) => assignment.assignmentId === assignmentId),
  );
  return { assigned, counted };
}

/** A review's score is the mean by the rubric's method, or the sum of points where the method is the sum. */
function getScore({ weightedScore, totalScore }: ModelReview): number | null {
  return weightedScore === null ? totalScore : weightedScore;
}

function describeScores(scores: readonly number[]) {
  if (scores.length === 0) return { meanScore: null, medianScore: null, minScore: null, maxScore: null, stdDev: null };
  const meanScore = average(scores);
  const ascending = scores.toSorted((one, other) => one - other);
  const half = Math.floor(ascending.length / 2);
  const middle = ascending.length % 2 ? ascending.slice(half, half + 1) : ascending.slice(half - 1, half + 1);
  return {
    meanScore: toShown(meanScore),
    medianScore: toShown(average(middle)),
    minScore: toShown(Math.min(...scores)),
    maxScore: toShown(Math.max(...scores)),
    stdDev: toShown(Math.sqrt(average(scores.map((score) => (score - meanScore) ** 2)))),
  };
}

/** Describes the criteria in the order in which the reviews name them, the oldest review first. */
function describeCriteria(submitted: readonly ModelReview[]) {
  const scores = submitted.toReversed().flatMap((review) => review.scores);
  const criterionIds = [...new Set(scores.map(({ criterionId }) => criterionId))];
  return criterionIds.map((criterionId) => {
    const values = scores.filter((score) => score.criterionId === criterionId).map(({ value }) => value);
    const numbers = values.filter((value) => typeof value === "number");
    return {
      criterionId,
      meanScore: numbers.length > 0 ? toShown(average(numbers)) : null,
      count: values.length,
    };
  });
}

function average(numbers: readonly number[]): number {
  return numbers.reduce((total, each) => total + each, 0) / numbers.length;
}

/** Rounds to four decimals. */
function toShown(score: number): number {
  return Number(score.toFixed(4));
}
