import { limits } from "../contract/access/limits.ts";
import { problem } from "../contract/errors.ts";
import { workloadStatuses } from "../domain/assignments.ts";
import { summarize } from "../domain/scoring.ts";
import type { Handler } from "../store/handler-context.ts";
import { getOrThrow } from "./guards.ts";

export const list_reviews: Handler<"list_reviews"> = ({ store }, { limit, lastEvaluatedKey, ...where }) =>
  store.page("reviews", { where }, "newest", { limit, lastEvaluatedKey });

export const get_review: Handler<"get_review"> = ({ store }, { reviewId }) => getOrThrow(store, "reviews", reviewId);

export const get_submission_reviews_summary: Handler<"get_submission_reviews_summary"> = async ({ store }, input) => {
  const { submissionId, roundId } = input;
  const submission = await getOrThrow(store, "submissions", submissionId);
  if (roundId !== undefined) {
    const round = await getOrThrow(store, "rounds", roundId);
    if (round.trackId !== submission.trackId) throw problem("not_found");
  }
  const where = { submissionId, roundId };
  const workload = { where: { ...where, active: true, status: workloadStatuses } };
  const assignments = await store.find("assignments", workload, { limit: limits.summarizedReviews });
  const reviews = await store.find("reviews", { where }, { limit: limits.summarizedReviews });
  const activeIds = new Set(assignments.map(({ assignmentId }) => assignmentId));
  // Drafts of removed assignments will never be submitted.
  const counted = reviews.filter((review) => review.status === "submitted" || activeIds.has(review.assignmentId));
  return summarize({ submissionId, roundId: roundId ?? null }, assignments, counted);
};
