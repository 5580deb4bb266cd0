import { findPlanFaults, hasDeclaredConflict, listHinderingConflicts, type PlannedPair } from "./auto-assignment.ts";
import {
  audit,
  type Handler,
  incompleteStatuses,
  listAssignments,
  type ModelAssignment,
  type ModelTenant,
  ok,
  Refusal,
  requireWritable,
} from "./tenant.ts";

/** The part of the reference model that assigns reviewers (specification 4.4). */
export const assignmentHandlers = {
  bulk_assign_reviewers(tenant, { roundId, submissionIds, reviewerIds }, answered) {
    requireWritableRound(tenant, roundId);
    const submission = tenant.submissions.find((each) => each.submissionId === submissionIds[0]);
    if (!submission) throw new Refusal(400, "validation_failed");
    if (submission.state !== "IN_REVIEW" || submission.currentRoundId !== roundId)
      throw new Refusal(409, "invalid_state_transition");
    const { submissionId } = submission;
    const target = { submissionId, roundId, reviewerId: reviewerIds[0] };
    const reason = findObstacle(tenant, target);
    if (reason !== undefined) return ok({ created: [], skipped: [{ reason }] });
    const [created] = (answered["created"] ?? []) as { assignmentId: string }[];
    const assignment = create(String(created?.assignmentId), { ...target, source: "bulk", reassignedFromId: null });
    submission.assignments.push(assignment);
    audit(tenant, assignment.assignmentId, "assignment.created");
    return ok({ created: [{ ...assignment }], skipped: [] });
  },
  auto_assign_reviewers(tenant, { roundId, domainFieldId, ...input }, answered) {
    const { reviewsPerSubmission = 2, useExpertiseMatching: matchesExpertise = false } = input;
    requireWritableRound(tenant, roundId);
    if (matchesExpertise && domainFieldId === undefined) throw new Refusal(400, "validation_failed");
    if (domainFieldId !== undefined && domainFieldId !== tenant.fixed.domainFieldId)
      throw new Refusal(400, "validation_failed");
    const rules = { roundId, reviewsPerSubmission, matchesExpertise };
    const planned = (answered["created"] ?? []) as (PlannedPair & { assignmentId: string })[];
    const faults = findPlanFaults(tenant, rules, planned);
    if (faults.length > 0) return ok({ faults });
    const skipped = listHinderingConflicts(tenant, rules, planned);
    const created = planned.map(({ assignmentId, submissionId, reviewerId }) => {
      const assignment = create(assignmentId, {
        ...{ submissionId, reviewerId, roundId },
        source: "auto",
        reassignedFromId: null,
      });
      tenant.submissions.find((each) => each.submissionId === submissionId)?.assignments.push(assignment);
      audit(tenant, assignmentId, "assignment.created");
      return { ...assignment };
    });
    return ok({ created, skipped });
  },
  reassign_assignment(tenant, { assignmentId, newReviewerId, version }, answered) {
    const assignment = findAssignment(tenant, assignmentId);
    if (assignment.version !== version) throw new Refusal(409, "version_conflict");
    requireWritableRound(tenant, assignment.roundId);
    requireStatus(assignment, [...incompleteStatuses, "declined"]);
    const { submissionId, roundId } = assignment;
    const target = { submissionId, roundId, reviewerId: newReviewerId };
    if (!tenant.reviewers.some(({ reviewerId }) => reviewerId === newReviewerId)) throw new Refusal(404, "not_found");
    if (findObstacle(tenant, target) !== undefined) throw new Refusal(400, "validation_failed");
    endAssignment(tenant, assignment, "assignment.reassigned");
    const next = { ...target, source: "reassign", reassignedFromId: assignmentId };
    const created = create(String(answered["assignmentId"]), next);
    const submission = tenant.submissions.find((each) => each.submissionId === submissionId);
    submission?.assignments.push(created);
    audit(tenant, created.assignmentId, "assignment.reassigned");
    return ok({ ...created });
  },
  delete_assignment(tenant, { assignmentId }) {
    const assignment = findAssignment(tenant, assignmentId);
    requireWritable(tenant);
    requireStatus(assignment, incompleteStatuses);
    endAssignment(tenant, assignment, "assignment.removed");
    return ok({ ...assignment });
  },
} as const satisfies Record<string, Handler>;

/** Ends an assignment, which keeps its row. One that the reviewer declined stays declined. */
export function endAssignment(tenant: ModelTenant, assignment: ModelAssignment, action: string): void {
  assignment.active = false;
  if (assignment.status !== "declined") assignment.status = "cancelled";
  assignment.version += 1;
  audit(tenant, assignment.assignmentId, action);
}

export function requireActiveRound({ rounds }: ModelTenant, roundId: string): void {
  if (!rounds.some((round) => round.roundId === roundId && round.active)) throw new Refusal(409, "round_inactive");
}

function requireWritableRound(tenant: ModelTenant, roundId: string): void {
  if (!tenant.rounds.some((round) => round.roundId === roundId)) throw new Refusal(404, "not_found");
  requireWritable(tenant);
  requireActiveRound(tenant, roundId);
}

function create(assignmentId: string, given: Omit<ModelAssignment, "assignmentId" | "status" | "version" | "active">) {
  return { ...given, assignmentId, status: "assigned", version: 0, active: true };
}

function requireStatus({ active, status }: ModelAssignment, allowed: readonly string[]): void {
  if (!active || !allowed.includes(status)) throw new Refusal(409, "invalid_state_transition");
}

function findAssignment(tenant: ModelTenant, assignmentId: string): ModelAssignment {
  const assignment = listAssignments(tenant).find((each) => each.assignmentId === assignmentId);
  if (!assignment) throw new Refusal(404, "not_found");
  return assignment;
}

/** Returns why a reviewer cannot get a submission in a round. */
function findObstacle(
  tenant: ModelTenant,
  target: Pick<ModelAssignment, "submissionId" | "roundId" | "reviewerId">,
): string | undefined {
  const reviewer = tenant.reviewers.find(({ reviewerId }) => reviewerId === target.reviewerId);
  if (reviewer?.status === "inactive") return "reviewer_inactive";
  if (hasDeclaredConflict(tenant, target)) return "conflict_of_interest";
  return isTaken(tenant, target) ? "duplicate" : undefined;
}

function isTaken(
  tenant: ModelTenant,
  { submissionId, roundId, reviewerId }: Pick<ModelAssignment, "submissionId" | "roundId" | "reviewerId">,
): boolean {
  return listAssignments(tenant).some(
    (each) =>
      each.active && each.submissionId === submissionId && each.roundId === roundId && each.reviewerId === reviewerId,
  );
}
