import type { Assignment } from "../../contract/assignments.ts";
import { checkAssignmentTransition } from "../../domain/assignments.ts";
import type { PortalActionHandler, PortalContext } from "../../store/handler-context.ts";
import { getOrThrow, loadWritableProgram } from "../guards.ts";
import { loadReviewerAuthor } from "./authors.ts";

export const respond_to_assignment: PortalActionHandler<"respond_to_assignment"> = {
  author: (store, { assignmentId }) => loadReviewerAuthor(store, assignmentId),

  async run({ store, now }, { assignmentId, response, reason }) {
    const assignment = await loadAssignmentFor(store, assignmentId, response);
    return store.update("assignments", assignment, {
      status: response === "accept" ? "accepted" : "declined",
      respondedAt: now,
      reason,
    });
  },
};

/** Records a conflict of interest. Denying one returns the assignment to the reviewer. */
export const attest_conflict: PortalActionHandler<"attest_conflict"> = {
  author: (store, { assignmentId }) => loadReviewerAuthor(store, assignmentId),

  async run({ store, now }, { assignmentId, hasConflict, statement }) {
    const assignment = await loadAssignmentFor(store, assignmentId, "attest");
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
 * Returns an assignment whose status allows a reviewer's action.
 * @throws Problem `not_found`, `program_archived`, `invalid_state_transition`
 */
export async function loadAssignmentFor(
  store: PortalContext["store"],
  assignmentId: string,
  action: Parameters<typeof checkAssignmentTransition>[0],
): Promise<Assignment> {
  const assignment = await getOrThrow(store, "assignments", assignmentId);
  await loadWritableProgram(store, assignment.programId);
  checkAssignmentTransition(action, assignment);
  return assignment;
}
