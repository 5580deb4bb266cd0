import { limits } from "../contract/access/limits.ts";
import type { Assignment, AssignmentStatus } from "../contract/assignments.ts";
import { problem, validationProblem } from "../contract/errors.ts";

/** The statuses that the filter `incomplete` selects (specification 4.4). */
export const incompleteStatuses = ["assigned", "accepted", "conflict"] as const satisfies readonly AssignmentStatus[];

/** Statuses that count towards a reviewer's workload: the review is expected or done. */
export const workloadStatuses = [...incompleteStatuses, "completed"] as const satisfies readonly AssignmentStatus[];

/** Statuses that allow each operation on an assignment. */
const allowedStatuses = {
  delete: incompleteStatuses,
  reassign: [...incompleteStatuses, "declined"],
  accept: ["assigned"],
  decline: ["assigned", "accepted"],
  attest: incompleteStatuses,
  review: ["assigned", "accepted"],
} as const satisfies Record<string, readonly AssignmentStatus[]>;

/**
 * Checks that an assignment's status allows an operation.
 * @throws Problem `invalid_state_transition` with the statuses that allow it
 */
export function checkAssignmentTransition(
  operation: keyof typeof allowedStatuses,
  { status, active }: Pick<Assignment, "status" | "active">,
): void {
  const allowedFrom: readonly AssignmentStatus[] = allowedStatuses[operation];
  if (active && allowedFrom.includes(status)) return;
  const because = active ? {} : { because: "the assignment is not active" };
  throw problem("invalid_state_transition", { from: status, operation, allowedFrom, ...because });
}

/** Returns the fields of an assignment that is no longer active. A declined one stays declined. */
export function toEndedAssignment(status: AssignmentStatus, now: string) {
  return { status: status === "declined" ? status : ("cancelled" as const), active: false, removedAt: now };
}

export interface Pair {
  readonly submissionId: string;
  readonly reviewerId: string;
}

/** A pair with the paths of the arguments that name its submission and its reviewer. */
export interface RequestedPair extends Pair {
  readonly submissionPath: string;
  readonly reviewerPath: string;
}

interface BulkRequest {
  readonly pairs?: readonly Pair[] | undefined;
  readonly submissionIds?: readonly string[] | undefined;
  readonly reviewerIds?: readonly string[] | undefined;
}

/**
 * Returns the pairs of a bulk request, in its order: `pairs`, or every combination of the two lists.
 * @throws Problem `validation_failed` unless one of the two forms is given, is not empty and names at most 500 pairs
 */
export function listRequestedPairs({ pairs, submissionIds, reviewerIds }: BulkRequest): RequestedPair[] {
  const forms = { submissionIds, reviewerIds, pairs };
  const paths = Object.keys(forms).filter((path) => forms[path as keyof BulkRequest] !== undefined);
  const createProblem = (code: string, message: string, at: readonly string[]) =>
    validationProblem(...at.map((path) => ({ path, code, message })));

  const onlyOne = "Give either pairs, or submissionIds with reviewerIds";
  if (paths.length === 0) throw createProblem("required", onlyOne, Object.keys(forms));
  if (pairs && paths.length > 1) throw createProblem("conflicting", onlyOne, paths);
  if (!pairs && paths.length === 1) {
    throw createProblem("required", onlyOne, submissionIds ? ["reviewerIds"] : ["submissionIds"]);
  }
  const empty = paths.filter((path) => forms[path as keyof BulkRequest]?.length === 0);
  if (empty.length > 0) throw createProblem("too_small", "Expected at least one item", empty);
  if ((submissionIds ?? []).length * (reviewerIds ?? []).length > limits.bulkAssignments) {
    throw createProblem("too_big", `Expected at most ${limits.bulkAssignments} combinations`, paths);
  }
  if (pairs) {
    return pairs.map(({ submissionId, reviewerId }, index) => ({
      submissionId,
      reviewerId,
      submissionPath: `pairs.${index}.submissionId`,
      reviewerPath: `pairs.${index}.reviewerId`,
    }));
  }
  return (submissionIds ?? []).flatMap((submissionId, row) =>
    (reviewerIds ?? []).map((reviewerId, column) => ({
      submissionId,
      reviewerId,
      submissionPath: `submissionIds.${row}`,
      reviewerPath: `reviewerIds.${column}`,
    })),
  );
}
