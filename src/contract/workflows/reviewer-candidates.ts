import * as z from "zod";
import { AssignmentStatus, ConflictKind } from "../assignments.ts";
import { personal } from "../definition/field-annotations.ts";
import { Id } from "../definition/fields.ts";
import { gaps, maxWorkflowRows, workflow } from "../definition/workflow.ts";

export const maxCandidateSubmissions = 20;

const count = z.int().min(0);

const ReviewerCandidate = z.object({
  reviewerId: Id,
  name: personal(z.string()).nullable(),
  affiliation: personal(z.string().nullable()),
  /** The reviewer's expertise in the submission's domains; null if these are not known. */
  matchingExpertise: z.array(z.string()).nullable(),
  /** Reviews in this round that are expected and not submitted. */
  open: count.nullable(),
  /** Number of further assignments that the limits allow; null if there is no limit. */
  room: count.nullable(),
  /** Status of the assignment of this submission that the reviewer has in this round; null if there is none. */
  assigned: AssignmentStatus.nullable(),
  /** True if the reviewer has reviewed the submission in another round. */
  reviewedBefore: z.boolean().nullable(),
  /** Assignments of this round that the reviewer declined. */
  declined: count.nullable(),
  /** Most serious first. Only a declared conflict prevents an assignment. */
  conflicts: z.array(ConflictKind),
});
export type ReviewerCandidate = z.output<typeof ReviewerCandidate>;

const ReviewerCandidates = z.object({
  programId: Id,
  roundId: Id,
  /** Name of the round. */
  name: z.string().nullable(),
  track: z.string().nullable(),
  submissions: z.array(
    z.object({
      submissionId: Id,
      title: personal(z.string().nullable()),
      /** Best first. Reviewers who cannot be assigned come last. */
      candidates: z.array(ReviewerCandidate),
    }),
  ),
  ...gaps,
});

export type ReviewerCandidates = z.output<typeof ReviewerCandidates>;

export const list_reviewer_candidates = workflow({
  summary: "List who can review submissions in a round, best first",
  description: "Active reviewers of the round: open load, room left, matching expertise, declines, conflicts.",
  path: "/programs/{programId}/rounds/{roundId}/reviewer-candidates",
  scope: "reviewers:read",
  reads: [
    "list_reviewers",
    "get_submission",
    "list_assignments",
    "list_rounds",
    "list_tracks",
    "get_program",
    "get_person",
  ],
  query: {
    submissionIds: z.array(Id).min(1).max(maxCandidateSubmissions),
    limit: z.int().min(1).max(maxWorkflowRows).default(10),
  },
  data: ReviewerCandidates,
  audit: "round.reviewer_candidates_listed",
  errors: ["not_found"],
  scans: true,
});
