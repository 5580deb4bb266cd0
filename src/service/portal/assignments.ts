import type { Assignment } from "../../contract/assignments.ts";
import { checkAssignmentTransition } from "../../domain/assignments.ts";
import type { ActHandler, ActWork } from "../../store/handler-context.ts";
import { getOrThrow, loadWritableProgram } from "../guards.ts";
import { loadReviewerAuthor } from "./authors.ts";

export const respond_to_assignment: ActHandler<"respond_to_assignment"> = {
  author: (store, { assignmentId }) => loadReviewerAuthor(store, assignmentId),

  async run({ store, now }, { assignmentId, response, reason }) {
    const assignment = await loadMovableAssignment(store, assignmentId, response);
    return store.update("assignments", assignment, {
      status: response === "accept" ? "accepted" : "declined",
      respondedAt: now,
      reason,
    });
  },
};

/** Whoever has a conflict reviews no more; whoever finds that there is none takes the assignment up again. */
export const attest_conflict: ActHandler<"attest_conflict"> = {
  author: (store, { assignmentId }) => loadReviewerAuthor(store, assignmentId),

  async run({ store, now }, { assignmentId, hasConflict, statement }) {
    const assignment = await loadMovableAssignment(store, assignmentId, "attest");
    return store.update("assignments", assignment, {
      conflictAttestation: { hasConflict, statement, attestedAt: now },
      status: getAttestedStatus(assignment.status, hasConflict),
      respondedAt: assignment.respondedAt ?? now,
    });
  },
};

function getAttestedStatus(from: Assignment["status"], hasConflict: boolean): Assignment["status"] {
  if (hasConflict) return "conflict";
  return from === "conflict" ? "assigned" : from;
}

/**
 * An assignment that a reviewer may act on.
 * @throws Problem `not_found`, `program_archived`, `invalid_state_transition`
 */
export async function loadMovableAssignment(
  store: ActWork["store"],
  assignmentId: string,
  move: Parameters<typeof checkAssignmentTransition>[0],
): Promise<Assignment> {
  const assignment = await getOrThrow(store, "assignments", assignmentId);
  await loadWritableProgram(store, assignment.programId);
  checkAssignmentTransition(move, assignment);
  return assignment;
}
