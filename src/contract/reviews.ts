import * as z from "zod";
import { personal } from "./definition/field-annotations.ts";
import { common, Id, Timestamp } from "./definition/fields.ts";
import { operation } from "./definition/operation.ts";
import { pageQuery } from "./definition/page.ts";

export const Review = z.object({
  reviewId: Id,
  assignmentId: Id,
  submissionId: Id,
  programId: Id,
  roundId: Id,
  reviewerId: Id,
  rubricId: Id,
  rubricVersion: z.int().min(1),
  status: z.enum(["draft", "submitted"]),
  scores: z.array(
    z.object({
      criterionId: Id,
      value: z.union([z.number(), z.string(), z.boolean()]),
      comment: personal(z.string().nullable()),
    }),
  ),
  totalScore: z.number().nullable(),
  weightedScore: z.number().nullable(),
  recommendation: z.enum(["accept", "revise", "reject", "none"]),
  overallComment: personal(z.string().nullable()),
  confidentialComment: personal(z.string().nullable()),
  submittedAt: Timestamp.nullable(),
  ...common,
});
export type Review = z.output<typeof Review>;

const score = z.number().nullable();

export const ReviewsSummary = z.object({
  submissionId: Id,
  roundId: Id.nullable(),
  assignedCount: z.int(),
  submittedCount: z.int(),
  incompleteCount: z.int(),
  conflictCount: z.int(),
  meanScore: score,
  medianScore: score,
  minScore: score,
  maxScore: score,
  stdDev: score,
  criteria: z.array(z.object({ criterionId: Id, meanScore: score, count: z.int() })),
  status: z.enum(["not_started", "in_progress", "complete"]),
});
export type ReviewsSummary = z.output<typeof ReviewsSummary>;

/** Statistics of scores; null without scores. `n` is the number of submitted reviews that have one. */
export const ScoreStatistics = z.object({ n: z.int(), mean: score, median: score, lowest: score, highest: score });
export type ScoreStatistics = z.output<typeof ScoreStatistics>;

/** The summary that the tool returns: statistics of each criterion by its label, and of both totals. */
export const LabelledReviewsSummary = ReviewsSummary.pick({
  submissionId: true,
  roundId: true,
  status: true,
  assignedCount: true,
  submittedCount: true,
  incompleteCount: true,
  conflictCount: true,
}).extend({
  /** Statistics of `weightedScore`, which reviews have unless the rubric's method is `sum`. */
  weightedTotal: ScoreStatistics,
  /** Statistics of `totalScore`, the sum of points. */
  plainTotal: ScoreStatistics,
  criteria: z.array(ScoreStatistics.extend({ criterionId: Id, label: z.string().nullable() })),
});
export type LabelledReviewsSummary = z.output<typeof LabelledReviewsSummary>;

export const get_submission_reviews_summary = operation({
  summary: "Get a submission's aggregated review scores, of one round or all",
  method: "GET",
  path: "/submissions/{submissionId}/reviews-summary",
  resource: "programme://submissions/{submissionId}/reviews-summary",
  scope: "reviews:read",
  effect: "read",
  query: { roundId: Id.optional() },
  data: ReviewsSummary,
  audit: "review.summarized",
  errors: ["not_found"],
});

export const list_reviews = operation({
  summary: "List reviews",
  method: "GET",
  path: "/reviews",
  resource: "programme://reviews",
  scope: "reviews:read",
  effect: "read",
  query: { submissionId: Id.optional(), roundId: Id.optional(), reviewerId: Id.optional(), ...pageQuery },
  data: z.array(Review),
  audit: "review.listed",
  errors: ["invalid_cursor"],
});

export const get_review = operation({
  summary: "Get a review with its scores and comments",
  method: "GET",
  path: "/reviews/{reviewId}",
  resource: "programme://reviews/{reviewId}",
  scope: "reviews:read",
  effect: "read",
  data: Review,
  audit: "review.read",
  errors: ["not_found"],
});
