import * as z from "zod";
import { personal } from "../definition/field-annotations.ts";
import { Id, Timestamp } from "../definition/fields.ts";
import { gaps, RowLimit, workflow } from "../definition/workflow.ts";
import { SubmissionState } from "../submissions.ts";

const count = z.int().min(0);

/** Counts of active assignments. */
const workload = {
  /** Reviews that are expected or done, conflicts of interest among them. */
  assigned: count,
  conflicts: count,
  /** Reviews begun but not submitted. */
  drafted: count.nullable(),
  submitted: count,
  /** Expected reviews whose due date has passed. */
  overdue: count,
};

const progress = {
  /** Reviews that the programme's rule requires of submissions under review in the round. */
  required: count.nullable(),
  ...workload,
  /** Required reviews that are not submitted. */
  missing: count.nullable(),
};

export const ReviewProgress = z.object({
  programId: Id,
  rounds: z.array(
    z.object({
      roundId: Id,
      name: z.string().nullable(),
      trackId: Id.nullable(),
      track: z.string().nullable(),
      deadline: Timestamp.nullable(),
      submissions: count,
      ...progress,
    }),
  ),
  /** Most overdue first. */
  reviewers: z.array(z.object({ reviewerId: Id, name: personal(z.string()).nullable(), ...workload })),
  /** One row for each submission and round. Most overdue first, then those that miss most reviews. */
  submissions: z.array(
    z.object({
      submissionId: Id,
      title: personal(z.string().nullable()),
      state: SubmissionState.nullable(),
      roundId: Id,
      ...progress,
    }),
  ),
  ...gaps,
});
export type ReviewProgress = z.output<typeof ReviewProgress>;

export const get_review_progress = workflow({
  summary: "Get how far reviewing is, by round, reviewer and submission",
  description: "Reviews required, assigned, drafted, submitted, missing, overdue; most overdue first.",
  path: "/programs/{programId}/review-progress",
  scope: "assignments:read",
  reads: [
    "list_assignments",
    "list_reviews",
    "list_submissions",
    "list_rounds",
    "list_tracks",
    "list_reviewers",
    "get_program",
  ],
  query: { trackId: Id.optional(), roundId: Id.optional(), limit: RowLimit.default(50) },
  data: ReviewProgress,
  audit: "program.review_progress_read",
  errors: ["not_found"],
  scans: true,
});
