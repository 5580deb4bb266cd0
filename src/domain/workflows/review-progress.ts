import type { Assignment } from "../../contract/assignments.ts";
import { incompleteStatuses } from "../assignments.ts";

/** Counts of active assignments: of a submission in a round, of a round or of a reviewer. */
export interface Workload {
  assigned: number;
  conflicts: number;
  drafted: number;
  submitted: number;
  overdue: number;
}

export type WorkloadAssignment = Pick<Assignment, "status" | "dueAt">;

export function createWorkload(): Workload {
  return { assigned: 0, conflicts: 0, drafted: 0, submitted: 0, overdue: 0 };
}

/** Returns whether a review is expected of an assignment and not submitted. */
export function isOpenAssignment({ status }: Pick<Assignment, "status">): boolean {
  return (incompleteStatuses as readonly string[]).includes(status);
}

/** Adds an active assignment to a workload. A declined one is not part of it, and one in conflict is never overdue. */
export function addAssignment(workload: Workload, { status, dueAt }: WorkloadAssignment, nowMs: number): void {
  const isOpen = isOpenAssignment({ status });
  if (isOpen || status === "completed") workload.assigned += 1;
  if (status === "completed") workload.submitted += 1;
  if (status === "conflict") workload.conflicts += 1;
  else if (isOpen && dueAt !== null && Date.parse(dueAt) < nowMs) workload.overdue += 1;
}

/** Returns how many of the required reviews are not submitted; null if the requirement is not known. */
export function countMissing(required: number | null, { submitted }: Pick<Workload, "submitted">): number | null {
  return required === null ? null : Math.max(0, required - submitted);
}
