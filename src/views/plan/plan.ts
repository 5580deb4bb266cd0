import type { Assignment } from "../../contract/assignments.ts";
import type { ReviewerCandidate, ReviewerCandidates } from "../../contract/workflows/reviewer-candidates.ts";

export type PlanSubmission = ReviewerCandidates["submissions"][number];

/** A reviewer of the plan, with the submissions for which the answer names the reviewer. */
export interface PlannedReviewer
  extends Pick<ReviewerCandidate, "reviewerId" | "name" | "affiliation" | "open" | "room"> {
  readonly bySubmission: ReadonlyMap<string, ReviewerCandidate>;
}

/** The wanted assignments that differ from the present ones, by `createPairKey`. */
export type PlanChanges = Readonly<Record<string, boolean>>;

export function createPairKey(submissionId: string, reviewerId: string): string {
  return `${submissionId} ${reviewerId}`;
}

/** Lists the reviewers that the answer names, by name. */
export function listPlannedReviewers({ submissions }: ReviewerCandidates): PlannedReviewer[] {
  const rows = submissions.flatMap(({ submissionId, candidates }) =>
    candidates.map((candidate) => ({ submissionId, candidate })),
  );
  const reviewers = [...Map.groupBy(rows, ({ candidate }) => candidate.reviewerId).values()].flatMap((own) => {
    const [first] = own;
    if (!first) return [];
    const bySubmission = new Map(own.map(({ submissionId, candidate }) => [submissionId, candidate]));
    return [{ ...first.candidate, bySubmission }];
  });
  return reviewers.toSorted((a, b) => String(a.name).localeCompare(String(b.name)));
}

export function findCandidate({ submissions }: ReviewerCandidates, submissionId: string, reviewerId: string) {
  const submission = submissions.find((each) => each.submissionId === submissionId);
  return submission?.candidates.find((each) => each.reviewerId === reviewerId);
}

/** Returns why a pair cannot be changed; undefined if it can. */
export function findHindrance({ assigned, conflicts }: ReviewerCandidate): string | undefined {
  if (assigned === "completed") return "completed";
  return assigned === null && conflicts[0] === "declared_conflict" ? "declared conflict" : undefined;
}

export function isWanted(changes: PlanChanges, submissionId: string, candidate: ReviewerCandidate): boolean {
  return changes[createPairKey(submissionId, candidate.reviewerId)] ?? candidate.assigned !== null;
}

/** Sets whether a pair is wanted. A pair that is wanted as it is, or cannot be changed, is not a change. */
export function changePair(
  data: ReviewerCandidates,
  changes: PlanChanges,
  [submissionId, reviewerId]: readonly [string, string],
  wanted: boolean,
): PlanChanges {
  const key = createPairKey(submissionId, reviewerId);
  const candidate = findCandidate(data, submissionId, reviewerId);
  if (!candidate || findHindrance(candidate)) return changes;
  const { [key]: _previous, ...others } = changes;
  return wanted === (candidate.assigned !== null) ? others : { ...others, [key]: wanted };
}

/** The calls that are sent for a submission: an assignment, a removal, or both as a move from one reviewer to another. */
export interface PlanStep {
  readonly submissionId: string;
  readonly removed?: string | undefined;
  readonly added?: string | undefined;
}

/** Lists the difference between the present and the wanted assignments. */
export function listPlanSteps(changes: PlanChanges): PlanStep[] {
  const pairs = Object.entries(changes).map(([key, wanted]) => {
    const [submissionId = "", reviewerId = ""] = key.split(" ");
    return { submissionId, reviewerId, wanted };
  });
  return [...Map.groupBy(pairs, ({ submissionId }) => submissionId)].flatMap(([submissionId, own]) => {
    const added = own.filter(({ wanted }) => wanted).map(({ reviewerId }) => reviewerId);
    const removed = own.filter(({ wanted }) => !wanted).map(({ reviewerId }) => reviewerId);
    const length = Math.max(added.length, removed.length);
    return Array.from({ length }, (_, index) => ({ submissionId, removed: removed[index], added: added[index] }));
  });
}

/** Counts how many more assignments a reviewer gets than now. */
export function countAdded(changes: PlanChanges, reviewerId: string): number {
  return Object.entries(changes)
    .filter(([key]) => key.endsWith(` ${reviewerId}`))
    .reduce((sum, [, wanted]) => sum + (wanted ? 1 : -1), 0);
}

export type FoundAssignment = Pick<Assignment, "assignmentId" | "version">;

/**
 * Creates the calls of a batch that makes the changes.
 * @param findAssignment - reads the present assignment of a pair
 */
export async function createPlanCalls(
  roundId: string,
  steps: readonly PlanStep[],
  findAssignment: (submissionId: string, reviewerId: string) => Promise<FoundAssignment>,
) {
  const calls: { tool: string; arguments: Record<string, unknown> }[] = [];
  const pairs: { submissionId: string; reviewerId: string }[] = [];
  for (const { submissionId, removed, added } of steps) {
    if (removed === undefined) {
      pairs.push({ submissionId, reviewerId: added ?? "" });
      continue;
    }
    const { assignmentId, version } = await findAssignment(submissionId, removed);
    calls.push(
      added === undefined
        ? { tool: "delete_assignment", arguments: { assignmentId } }
        : { tool: "reassign_assignment", arguments: { assignmentId, newReviewerId: added, version } },
    );
  }
  return pairs.length > 0 ? [...calls, { tool: "bulk_assign_reviewers", arguments: { roundId, pairs } }] : calls;
}
