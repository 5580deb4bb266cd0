import { nameOf } from "./rehearse-labels.ts";
import {
  type Change,
  expectVersion,
  type Input,
  type ReadRemote,
  type Rehearse,
  type Row,
  type Rows,
  rowsOf,
} from "./rehearse-reads.ts";

const assignmentsOf = (read: ReadRemote, roundId: unknown) => rowsOf(read, "list_assignments", { roundId });

const reviewing: readonly unknown[] = ["assigned", "accepted", "completed"];

/** Of the pairs asked for, those that the round does not have yet, as far as it can be read. */
export const bulkAssign: Rehearse = async (read, input) => {
  const { roundId } = input;
  const { rows } = await assignmentsOf(read, roundId);
  const reviewers = await rowsOf(read, "list_reviewers", { roundId });
  const submissions = await rowsOf(read, "list_submissions", { roundId });
  const taken = new Set(rows.map(pairKey));
  const pairs = pairsOf(input);
  return {
    changes: pairs
      .filter((pair) => !taken.has(pairKey(pair)))
      .map((pair) => ({ table: "assignments", id: "", after: { ...pair, roundId } })),
    data: {
      skipped: pairs.filter((pair) => taken.has(pairKey(pair))).map((pair) => ({ ...pair, reason: "duplicate" })),
    },
    labels: new Map([
      ...submissions.rows.map((row) => [String(row["submissionId"]), String(row["title"] ?? "")] as const),
      ...reviewers.rows.map((row) => [String(row["reviewerId"]), nameOf(row)] as const),
    ]),
  };
};

type Pair = { readonly submissionId: string; readonly reviewerId: string };

function pairsOf({ pairs, submissionIds, reviewerIds }: Input): readonly Pair[] {
  if (pairs) return pairs as readonly Pair[];
  return ((submissionIds ?? []) as readonly string[]).flatMap((submissionId) =>
    ((reviewerIds ?? []) as readonly string[]).map((reviewerId) => ({ submissionId, reviewerId })),
  );
}

function pairKey({ submissionId, reviewerId }: Row | Pair): string {
  return `${submissionId} ${reviewerId}`;
}

/** Who gets what is the service's plan; what it starts from can be read. */
export const autoAssign: Rehearse = async (read, input) => {
  const { roundId } = input;
  const submissions = await rowsOf(read, "list_submissions", { roundId, state: "IN_REVIEW" });
  const reviewers = await rowsOf(read, "list_reviewers", { roundId, status: "active" });
  const assignments = await assignmentsOf(read, roundId);
  const wanted = input["reviewsPerSubmission"] ?? (await ruleOf(read, submissions.rows[0] ?? assignments.rows[0]));
  const loads = countBy(assignments.rows, "reviewerId");
  const outlook = {
    submissions: submissions.rows.length,
    reviewsMissing: typeof wanted === "number" ? missingOf(submissions, assignments, wanted) : undefined,
    reviewers: reviewers.rows.map(({ reviewerId }) => ({
      reviewerId: String(reviewerId),
      load: loads.get(reviewerId) ?? 0,
    })),
    complete: submissions.complete && reviewers.complete && assignments.complete,
  };
  // What was previewed stands for the round's version: the plan starts from it.
  const before = { roundId, version: JSON.stringify(outlook) };
  return {
    changes: [{ table: "rounds", id: String(roundId), before, after: { roundId } }],
    outlook,
    labels: new Map(reviewers.rows.map((row) => [String(row["reviewerId"]), nameOf(row)])),
  };
};

async function ruleOf(read: ReadRemote, row: Row | undefined): Promise<unknown> {
  if (typeof row?.["programId"] !== "string") return undefined;
  const program = (await read("get_program", { programId: row["programId"] }).catch(() => undefined))?.data as Row;
  return (program?.["assignmentRules"] as Row | undefined)?.["reviewsPerSubmission"];
}

function missingOf(submissions: Rows, assignments: Rows, wanted: number): number {
  const reviews = countBy(
    assignments.rows.filter(({ status }) => reviewing.includes(status)),
    "submissionId",
  );
  const missing = submissions.rows.map(({ submissionId }) => Math.max(0, wanted - (reviews.get(submissionId) ?? 0)));
  return missing.reduce((sum, count) => sum + count, 0);
}

function countBy(rows: readonly Row[], column: string): Map<unknown, number> {
  return new Map([...Map.groupBy(rows, (row) => row[column])].map(([value, group]) => [value, group.length]));
}

export const deleteAssignment: Rehearse = async (read, { assignmentId }) => ({
  changes: [endedAssignment(await assignmentOf(read, assignmentId))],
});

/** @throws Problem `version_conflict` */
export const reassignAssignment: Rehearse = async (read, { assignmentId, newReviewerId, version }) => {
  const before = await assignmentOf(read, assignmentId);
  expectVersion(before, version);
  const { programId, roundId, submissionId = "a submission that cannot be read" } = before;
  const after = { programId, roundId, submissionId, reviewerId: newReviewerId };
  return { changes: [endedAssignment(before), { table: "assignments", id: "", after }] };
};

/** Returns an assignment as the list has it: there is no read of one by its id. */
async function assignmentOf(read: ReadRemote, assignmentId: unknown): Promise<Row> {
  const { rows } = await rowsOf(read, "list_assignments", {});
  const unknown: Row = { assignmentId, active: true, status: "in a state that cannot be read" };
  return rows.find((row) => row["assignmentId"] === assignmentId) ?? unknown;
}

export function endedAssignment(before: Row): Change {
  return {
    table: "assignments",
    id: String(before["assignmentId"]),
    before: { ...before, active: true },
    after: { ...before, active: false, status: "cancelled" },
  };
}
