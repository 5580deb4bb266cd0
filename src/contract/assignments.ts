import * as z from "zod";
import { limits } from "./access/limits.ts";
import { personal } from "./definition/field-annotations.ts";
import { boundedText, common, Id, OptionalReason, Timestamp, Version } from "./definition/fields.ts";
import { operation } from "./definition/operation.ts";
import { pageQuery } from "./definition/page.ts";

export const AssignmentStatus = z.enum(["assigned", "accepted", "declined", "conflict", "completed", "cancelled"]);
export type AssignmentStatus = z.output<typeof AssignmentStatus>;

export const Assignment = z.object({
  assignmentId: Id,
  programId: Id,
  trackId: Id,
  roundId: Id,
  submissionId: Id,
  reviewerId: Id,
  status: AssignmentStatus,
  active: z.boolean(),
  source: z.enum(["manual", "bulk", "auto", "reassign"]),
  reassignedFromId: Id.nullable(),
  reason: personal(z.string().nullable()),
  dueAt: Timestamp.nullable(),
  assignedAt: Timestamp,
  respondedAt: Timestamp.nullable(),
  completedAt: Timestamp.nullable(),
  removedAt: Timestamp.nullable(),
  conflictAttestation: z
    .object({ hasConflict: z.boolean(), statement: personal(z.string()), attestedAt: Timestamp })
    .nullable(),
  ...common,
});
export type Assignment = z.output<typeof Assignment>;

export const SkipReason = z.enum(["duplicate", "conflict_of_interest", "reviewer_inactive"]);
export type SkipReason = z.output<typeof SkipReason>;

/**
 * Why a reviewer should not review a submission, most serious first. Only a declared conflict prevents it; people decide
 * about the others.
 */
export const ConflictKind = z.enum(["declared_conflict", "same_person", "same_organization", "declined_before"]);
export type ConflictKind = z.output<typeof ConflictKind>;

export const AssignmentOutcome = z.object({
  created: z.array(Assignment),
  skipped: z.array(z.object({ submissionId: Id, reviewerId: Id, reason: SkipReason })),
  /** Present only if a list was truncated: the list and its limit. */
  truncated: z.array(z.object({ list: z.enum(["created", "skipped"]), limit: z.int() })).optional(),
});
export type AssignmentOutcome = z.output<typeof AssignmentOutcome>;

export const list_assignments = operation({
  summary: "List review assignments",
  description: "incomplete: assigned, accepted or conflict. Removed ones only with includeInactive.",
  method: "GET",
  path: "/assignments",
  resource: "programme://assignments",
  scope: "assignments:read",
  effect: "read",
  query: {
    programId: Id.optional(),
    roundId: Id.optional(),
    reviewerId: Id.optional(),
    submissionId: Id.optional(),
    status: z.enum([...AssignmentStatus.options, "incomplete"]).optional(),
    includeInactive: z.boolean().optional(),
    ...pageQuery,
  },
  data: z.array(Assignment),
  audit: "assignment.listed",
  errors: ["invalid_cursor"],
});

export const delete_assignment = operation({
  summary: "Remove a review assignment that is not completed",
  method: "DELETE",
  path: "/assignments/{assignmentId}",
  scope: "assignments:write",
  effect: "destroy",
  data: Assignment,
  changes: ["submissionId", "reviewerId", "removedAt"],
  audit: "assignment.removed",
  confirm: ({ assignmentId }) => `Remove review assignment ${assignmentId}`,
  errors: ["not_found", "invalid_state_transition", "program_archived"],
});

export const reassign_assignment = operation({
  summary: "Move a review assignment to another reviewer",
  method: "POST",
  path: "/assignments/{assignmentId}/reassign",
  scope: "assignments:write",
  effect: "update",
  body: z.strictObject({ newReviewerId: Id, reason: personal(OptionalReason), version: Version }),
  data: Assignment,
  changes: ["submissionId", "reviewerId", "reassignedFromId"],
  audit: "assignment.reassigned",
  confirm: ({ assignmentId, newReviewerId }) => `Move review assignment ${assignmentId} to reviewer ${newReviewerId}`,
  errors: ["not_found", "version_conflict", "invalid_state_transition", "round_inactive", "program_archived"],
});

const outcomeChanges = [
  "created.assignmentId",
  "created.submissionId",
  "created.reviewerId",
  "created.version",
  "skipped",
  "truncated",
] as const;

export const auto_assign_reviewers = operation({
  summary: "Assign reviewers to a round's submissions by the programme's rules",
  description:
    "Arguments given replace the programme's own rule for this run. At most 10,000 assignments (call again for the rest) and 1,000 skipped.",
  method: "POST",
  path: "/assignments/auto",
  scope: "assignments:write",
  effect: "create",
  body: z.strictObject({
    roundId: Id,
    reviewsPerSubmission: z.int().min(0).optional(),
    useExpertiseMatching: z.boolean().optional(),
    domainFieldId: boundedText(100).describe("field with a submission's domain").optional(),
    excludePriorRoundReviewers: z.boolean().optional(),
  }),
  data: AssignmentOutcome,
  changes: outcomeChanges,
  audit: "assignment.created",
  confirm: ({ roundId }) => `Assign reviewers in round ${roundId} by the rules`,
  errors: ["not_found", "round_inactive", "program_archived"],
});

const ids = z.array(Id).max(limits.bulkAssignments);

export const bulk_assign_reviewers = operation({
  summary: "Assign many reviewers to submissions of a round",
  description:
    "Give either pairs, or submissionIds with reviewerIds for every combination; at most 500 assignments. What cannot be assigned is in skipped with the reason.",
  method: "POST",
  path: "/assignments/bulk",
  scope: "assignments:write",
  effect: "create",
  body: z.strictObject({
    roundId: Id,
    submissionIds: ids.optional(),
    reviewerIds: ids.optional(),
    pairs: z
      .array(z.strictObject({ submissionId: Id, reviewerId: Id }))
      .max(limits.bulkAssignments)
      .optional(),
  }),
  data: AssignmentOutcome,
  changes: outcomeChanges,
  audit: "assignment.created",
  confirm: ({ roundId }) => `Assign reviewers in round ${roundId}`,
  errors: ["not_found", "round_inactive", "program_archived", "invalid_state_transition"],
});
