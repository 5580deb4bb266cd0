import { getReviewerName } from "./dry-run-labels.ts";
import {
  expectVersion,
  type PlanDryRun,
  type ReadRemote,
  type RemoteChange,
  type RemoteInput,
  type RemoteRow,
  type RemoteRows,
  readRemoteRows,
} from "./dry-run-reads.ts";

const readAssignments = (read: ReadRemote, roundId: unknown) => readRemoteRows(read, "list_assignments", { roundId });

const reviewing: readonly unknown[] = ["assigned", "accepted", "completed"];

/** Plans the requested pairs that the round does not have yet, as far as it can be read. */
export const planBulkAssign: PlanDryRun = async (read, input) => {
  const { roundId } = input;
  const { rows } = await readAssignments(read, roundId);
  const reviewers = await readRemoteRows(read, "list_reviewers", { roundId });
  const submissions = await readRemoteRows(read, "list_submissions", { roundId });
  const taken = new Set(rows.map(toPairKey));
  const pairs = listPairs(input);
  return {
    changes: pairs
      .filter((pair) => !taken.has(toPairKey(pair)))
      .map((pair) => ({ table: "assignments", id: "", after: { ...pair, roundId } })),
    data: {
      skipped: pairs.filter((pair) => taken.has(toPairKey(pair))).map((pair) => ({ ...pair, reason: "duplicate" })),
    },
    labels: new Map([
      ...submissions.rows.map((row) => [String(row["submissionId"]), String(row["title"] ?? "")] as const),
      ...reviewers.rows.map((row) => [String(row["reviewerId"]), getReviewerName(row)] as const),
    ]),
  };
};

type Pair = { readonly submissionId: string; readonly reviewerId: string };

function listPairs({ pairs, submissionIds, reviewerIds }: RemoteInput): readonly Pair[] {
  if (pairs) return pairs as readonly Pair[];
  return ((submissionIds ?? []) as readonly string[]).flatMap((submissionId) =>
    ((reviewerIds ?? []) as readonly string[]).map((reviewerId) => ({ submissionId, reviewerId })),
  );
}

function toPairKey({ submissionId, reviewerId }: RemoteRow | Pair): string {
  return `${submissionId} ${reviewerId}`;
}

/** Plans by the inputs only: the service decides who gets what. */
export const planAutoAssign: PlanDryRun = async (read, input) => {
  const { roundId } = input;
  const submissions = await readRemoteRows(read, "list_submissions", { roundId, state: "IN_REVIEW" });
  const reviewers = await readRemoteRows(read, "list_reviewers", { roundId, status: "active" });
  const assignments = await readAssignments(read, roundId);
  const wanted = input["reviewsPerSubmission"] ?? (await readRule(read, submissions.rows[0] ?? assignments.rows[0]));
  const loads = countBy(assignments.rows, "reviewerId");
  const planningContext = {
    submissions: submissions.rows.length,
    reviewsMissing: typeof wanted === "number" ? countMissing(submissions, assignments, wanted) : undefined,
    reviewers: reviewers.rows.map(({ reviewerId }) => ({
      reviewerId: String(reviewerId),
      load: loads.get(reviewerId) ?? 0,
    })),
    complete: submissions.complete && reviewers.complete && assignments.complete,
  };
  // The preview is bound to the round's state, because the service plans from it.
  const before = { roundId, version: JSON.stringify(planningContext) };
  return {
    changes: [{ table: "rounds", id: String(roundId), before, after: { roundId } }],
    planningContext,
    labels: new Map(reviewers.rows.map((row) => [String(row["reviewerId"]), getReviewerName(row)])),
  };
};

async function readRule(read: ReadRemote, row: RemoteRow | undefined): Promise<unknown> {
  if (typeof row?.["programId"] !== "string") return undefined;
  const program = (await read("get_program", { programId: row["programId"] }).catch(() => undefined))
    ?.data as RemoteRow;
  return (program?.["assignmentRules"] as RemoteRow | undefined)?.["reviewsPerSubmission"];
}

function countMissing(submissions: RemoteRows, assignments: RemoteRows, wanted: number): number {
  const reviews = countBy(
    assignments.rows.filter(({ status }) => reviewing.includes(status)),
    "submissionId",
  );
  const missing = submissions.rows.map(({ submissionId }) => Math.max(0, wanted - (reviews.get(submissionId) ?? 0)));
  return missing.reduce((sum, count) => sum + count, 0);
}

function countBy(rows: readonly RemoteRow[], column: string): Map<unknown, number> {
  return new Map([...Map.groupBy(rows, (row) => row[column])].map(([value, group]) => [value, group.length]));
}

export const planDeleteAssignment: PlanDryRun = async (read, { assignmentId }) => ({
  changes: [createEndedAssignmentChange(await readAssignment(read, assignmentId))],
});

/**
 * Plans a reassignment.
 * @throws Problem `version_conflict`
 */
export const planReassignAssignment: PlanDryRun = async (read, { assignmentId, newReviewerId, version }) => {
  const before = await readAssignment(read, assignmentId);
  expectVersion(before, version);
  const { programId, roundId, submissionId = "a submission that cannot be read" } = before;
  const after = { programId, roundId, submissionId, reviewerId: newReviewerId };
  return { changes: [createEndedAssignmentChange(before), { table: "assignments", id: "", after }] };
};

/** Returns an assignment from the list, because no operation reads one by its id. */
async function readAssignment(read: ReadRemote, assignmentId: unknown): Promise<RemoteRow> {
  const { rows } = await readRemoteRows(read, "list_assignments", {});
  const unknown: RemoteRow = { assignmentId, active: true, status: "in a state that cannot be read" };
  return rows.find((row) => row["assignmentId"] === assignmentId) ?? unknown;
}

export function createEndedAssignmentChange(before: RemoteRow): RemoteChange {
  return {
    table: "assignments",
    id: String(before["assignmentId"]),
    before: { ...before, active: true },
    after: { ...before, active: false, status: "cancelled" },
  };
}
