import * as z from "zod";
import { freeForm, personal } from "../definition/field-annotations.ts";
import { Id, Timestamp } from "../definition/fields.ts";
import { gaps, workflow } from "../definition/workflow.ts";
import { Feedback } from "../feedback.ts";
import { File } from "../files.ts";
import { Review } from "../reviews.ts";
import { Submission } from "../submissions.ts";
import { SupplementResponse } from "../supplements.ts";

const named = personal(z.string().nullable());
const score = z.number().nullable();

export const SubmissionBrief = z.object({
  ...Submission.pick({
    submissionId: true,
    version: true,
    title: true,
    state: true,
    stateReason: true,
    innovatorName: true,
    innovatorEmail: true,
    applicantPersonId: true,
    deadline: true,
    submittedAt: true,
    decidedAt: true,
    paymentStatus: true,
  }).shape,
  programId: Id,
  program: z.string().nullable(),
  trackId: Id,
  currentRoundId: Id.nullable(),
  track: z.string().nullable(),
  round: z.string().nullable(),
  /** The answers in the form's order. */
  answers: z.array(z.object({ fieldId: Id, label: z.string().nullable(), value: freeForm(personal(z.unknown())) })),
  files: z
    .array(File.pick({ fileId: true, fileName: true, contentType: true, sizeBytes: true, scanStatus: true }))
    .optional(),
  supplements: z
    .array(
      SupplementResponse.pick({ supplementResponseId: true, title: true, required: true, status: true, dueAt: true }),
    )
    .optional(),
  assignments: z
    .array(
      z.object({
        assignmentId: Id,
        roundId: Id,
        reviewerId: Id,
        reviewer: named,
        status: z.string(),
        dueAt: Timestamp.nullable(),
        isOverdue: z.boolean(),
      }),
    )
    .optional(),
  reviews: z
    .array(
      z.object({
        reviewId: Id,
        roundId: Id,
        reviewerId: Id,
        status: Review.shape.status,
        recommendation: Review.shape.recommendation,
        weightedScore: score,
        totalScore: score,
        /** Values by the criterion's label. */
        scores: z.record(z.string(), z.unknown()),
      }),
    )
    .optional(),
  releasedFeedback: z
    .array(Feedback.pick({ feedbackId: true, roundId: true, subject: true, releasedAt: true }))
    .optional(),
  /** Changes of the state, oldest first. */
  history: z
    .array(
      z.object({
        at: Timestamp,
        action: z.string(),
        from: z.unknown(),
        to: z.unknown(),
        by: personal(z.string()),
        reason: personal(z.string().nullable()),
      }),
    )
    .optional(),
  /** Things that the next step still needs. */
  missing: z.array(z.string()),
  /** The tools that change the state from here, the states to which they lead, and their conditions. */
  next: z.array(z.object({ tool: z.string(), to: z.string(), needs: z.string().optional() })),
  ...gaps,
});
export type SubmissionBrief = z.output<typeof SubmissionBrief>;

export const get_submission_brief = workflow({
  summary: "Get everything about a submission in one page, and what its next step needs",
  description: "Labelled answers, files, supplements, payment, assignments, scores, feedback, state history.",
  path: "/submissions/{submissionId}/brief",
  scope: "submissions:read",
  reads: [
    "get_submission",
    "get_program",
    "get_schema",
    "get_rubric",
    "list_rounds",
    "list_tracks",
    "list_submission_files",
    "list_submission_supplements",
    "list_assignments",
    "list_reviewers",
    "list_reviews",
    "list_released_feedback",
    "list_audit_entries",
  ],
  data: SubmissionBrief,
  audit: "submission.brief_read",
  errors: ["not_found"],
});
