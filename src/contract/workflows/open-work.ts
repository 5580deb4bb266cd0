import * as z from "zod";
import { personal } from "../definition/field-annotations.ts";
import { Id, Timestamp, Version } from "../definition/fields.ts";
import { gaps, RowLimit, workflow } from "../definition/workflow.ts";

export const WorkKind = z.enum([
  "unscreened",
  "not_in_round",
  "unassigned",
  "late_review",
  "conflict",
  "feedback_not_released",
  "failed_email",
  "contradicting_dates",
]);
export type WorkKind = z.output<typeof WorkKind>;

export const OpenWork = z.object({
  programId: Id,
  /** Kinds of work that there is, in the order of a programme's course. */
  work: z.array(
    z.object({
      kind: WorkKind,
      count: z.int().min(1),
      /** The tools that do it. */
      tools: z.array(z.string()),
      /** The rows that have waited longest come first. */
      rows: z.array(
        z.object({
          submissionId: Id.optional(),
          title: personal(z.string().nullable()).optional(),
          trackId: Id.optional(),
          track: z.string().optional(),
          roundId: Id.optional(),
          round: z.string().optional(),
          assignmentId: Id.optional(),
          reviewerId: Id.optional(),
          reviewer: personal(z.string()).optional(),
          feedbackId: Id.optional(),
          emailSendId: Id.optional(),
          /** Of the submission, assignment, round or track that the tools change. */
          version: Version.optional(),
          since: Timestamp.nullable().optional(),
          detail: z.string().optional(),
        }),
      ),
    }),
  ),
  ...gaps,
});
export type OpenWork = z.output<typeof OpenWork>;

export const list_open_work = workflow({
  summary: "List what needs doing in a programme now, with the tools that do it",
  description: "Rows have the ids and the version that the tools take.",
  path: "/programs/{programId}/open-work",
  scope: "programs:read",
  reads: [
    "get_program",
    "list_tracks",
    "list_rounds",
    "list_submissions",
    "list_assignments",
    "list_reviewers",
    "list_released_feedback",
    "list_audit_entries",
  ],
  query: {
    kinds: z.array(WorkKind).min(1).max(WorkKind.options.length).optional(),
    limit: RowLimit.default(20),
  },
  data: OpenWork,
  audit: "program.open_work_listed",
  errors: ["not_found"],
  scans: true,
});
