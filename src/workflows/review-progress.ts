import { problem } from "../contract/errors.ts";
import type { ReviewProgress } from "../contract/workflows/review-progress.ts";
import { createRanking, type Ranking } from "../domain/workflows/ranking.ts";
import {
  addAssignment,
  countMissing,
  createWorkload,
  isOpenAssignment,
  type Workload,
} from "../domain/workflows/review-progress.ts";
import type { RecordSource, WorkflowRunner } from "../upstream/port.ts";
import { compareText, getOrAdd } from "./collections.ts";
import { loadReviewerNames } from "./reviewer-names.ts";
import { listRounds, type NamedRound } from "./rounds.ts";

type Scope = Parameters<WorkflowRunner<"get_review_progress">>[1];
type SubmissionRow = ReviewProgress["submissions"][number];
type RoundRow = ReviewProgress["rounds"][number];

/** The workloads of a programme. Drafts are counted once it is known which assignments are open. */
interface Tallies {
  readonly bySubmission: Map<string, Map<string, Workload>>;
  readonly byReviewer: Map<string, Workload>;
  readonly openAssignmentIds: Set<string>;
  readonly openRoundIds: Set<string>;
}

export const get_review_progress: WorkflowRunner<"get_review_progress"> = async (source, input) => {
  const { programId, limit } = input;
  const tallies = await tallyAssignments(source, input);
  const countsDrafts = await source.ifPermitted("drafted reviews", () => tallyDrafts(source, tallies).then(() => true));
  const program = await source.ifPermitted("required reviews", () => source.get("get_program", { programId }));
  const required = program?.assignmentRules.reviewsPerSubmission ?? null;
  const rounds = await source.ifPermitted("names and deadlines of rounds", () => listRounds(source, input));
  if (input.roundId !== undefined && rounds?.length === 0) throw problem("not_found");
  const context = { required, drafts: countsDrafts === true };
  const roundRows = createRoundRows(rounds, tallies.bySubmission.keys(), context);
  const ranking = createRanking<SubmissionRow>(limit, compareProgress);
  const rank = (row: SubmissionRow) => {
    ranking.add(row);
    addToRound(roundRows.get(row.roundId), row);
  };
  await source.ifPermitted("titles, states and required reviews of submissions", () =>
    rankSubmissions(source, input, tallies, roundRows, context, rank),
  );
  // Submissions that the token may not read, or that a remote service did not list.
  for (const [roundId, workloads] of tallies.bySubmission) {
    for (const [submissionId, workload] of workloads) {
      rank(
        createSubmissionRow({ submissionId, title: null, state: null }, roundId, workload, {
          ...context,
          required: null,
        }),
      );
    }
  }
  return {
    programId,
    rounds: [...roundRows.values()],
    reviewers: await listReviewers(source, programId, limit, tallies, context),
    submissions: source.truncate("submissions", ranking.list(), limit, ranking.count),
  };
};

async function tallyAssignments(source: RecordSource, { programId, trackId, roundId }: Scope): Promise<Tallies> {
  const tallies: Tallies = {
    bySubmission: new Map(),
    byReviewer: new Map(),
    openAssignmentIds: new Set(),
    openRoundIds: new Set(),
  };
  const nowMs = Date.parse(source.now);
  const fields = ["assignmentId", "submissionId", "reviewerId", "roundId", "trackId", "status", "dueAt"] as const;
  for await (const assignments of source.list("list_assignments", { programId, roundId }, fields)) {
    for (const assignment of assignments) {
      if (trackId !== undefined && assignment.trackId !== trackId) continue;
      const bySubmission = getOrAdd(tallies.bySubmission, assignment.roundId, () => new Map<string, Workload>());
      addAssignment(getOrAdd(bySubmission, assignment.submissionId, createWorkload), assignment, nowMs);
      addAssignment(getOrAdd(tallies.byReviewer, assignment.reviewerId, createWorkload), assignment, nowMs);
      if (!isOpenAssignment(assignment)) continue;
      tallies.openAssignmentIds.add(assignment.assignmentId);
      tallies.openRoundIds.add(assignment.roundId);
    }
  }
  return tallies;
}

/** Drafts of assignments that are not open will never be submitted. */
async function tallyDrafts(source: RecordSource, tallies: Tallies): Promise<void> {
  const fields = ["assignmentId", "submissionId", "reviewerId", "status"] as const;
  for (const roundId of tallies.openRoundIds) {
    for await (const reviews of source.list("list_reviews", { roundId }, fields)) {
      for (const { assignmentId, submissionId, reviewerId, status } of reviews) {
        if (status !== "draft" || !tallies.openAssignmentIds.has(assignmentId)) continue;
        const workloads = [tallies.bySubmission.get(roundId)?.get(submissionId), tallies.byReviewer.get(reviewerId)];
        for (const workload of workloads) if (workload) workload.drafted += 1;
      }
    }
  }
}

interface Known {
  readonly required: number | null;
  readonly drafts: boolean;
}

function createRoundRows(
  rounds: readonly NamedRound[] | undefined,
  roundIds: Iterable<string>,
  known: Known,
): Map<string, RoundRow> {
  const unnamed = [...roundIds].map((roundId) => ({ roundId, name: null, trackId: null, track: null, deadline: null }));
  const start = {
    submissions: 0,
    required: known.required === null ? null : 0,
    ...showWorkload(createWorkload(), known),
    missing: known.required === null ? null : 0,
  };
  return new Map(
    (rounds ?? unnamed).map(({ roundId, name, trackId, track, deadline }) => [
      roundId,
      { roundId, name, trackId, track, deadline, ...start },
    ]),
  );
}

/** Streams the submissions, and ranks those with assignments or under review in one of the rounds. */
async function rankSubmissions(
  source: RecordSource,
  { programId, trackId }: Scope,
  { bySubmission }: Tallies,
  roundRows: ReadonlyMap<string, RoundRow>,
  known: Known,
  rank: (row: SubmissionRow) => void,
): Promise<void> {
  const fields = ["submissionId", "title", "state", "currentRoundId"] as const;
  const ids = [...bySubmission.values()].flatMap((workloads) => [...workloads.keys()]);
  const narrowing = { ids, states: ["IN_REVIEW"] } as const;
  for await (const submissions of source.list("list_submissions", { programId, trackId }, fields, narrowing)) {
    for (const submission of submissions) {
      const { submissionId, state, currentRoundId } = submission;
      for (const roundId of roundRows.keys()) {
        const isCurrent = state === "IN_REVIEW" && currentRoundId === roundId;
        const workloads = bySubmission.get(roundId);
        const workload = workloads?.get(submissionId);
        if (!workload && !isCurrent) continue;
        workloads?.delete(submissionId);
        const required = isCurrent ? known.required : known.required === null ? null : 0;
        rank(createSubmissionRow(submission, roundId, workload ?? createWorkload(), { ...known, required }));
      }
    }
  }
}

function createSubmissionRow(
  { submissionId, title, state }: Pick<SubmissionRow, "submissionId" | "title" | "state">,
  roundId: string,
  workload: Workload,
  known: Known,
): SubmissionRow {
  const { required } = known;
  const missing = countMissing(required, workload);
  return { submissionId, title, state, roundId, required, ...showWorkload(workload, known), missing };
}

function showWorkload({ drafted, ...workload }: Workload, { drafts }: Known) {
  return { ...workload, drafted: drafts ? drafted : null };
}

const summed = ["required", "assigned", "conflicts", "drafted", "submitted", "overdue", "missing"] as const;

function addToRound(round: RoundRow | undefined, row: SubmissionRow): void {
  if (!round) return;
  round.submissions += 1;
  for (const name of summed) if (round[name] !== null) round[name] += row[name] ?? 0;
}

function compareProgress(a: SubmissionRow, b: SubmissionRow): number {
  return (
    b.overdue - a.overdue ||
    (b.missing ?? 0) - (a.missing ?? 0) ||
    compareText(a.submissionId, b.submissionId) ||
    compareText(a.roundId, b.roundId)
  );
}

async function listReviewers(
  source: RecordSource,
  programId: string,
  limit: number,
  { byReviewer }: Tallies,
  known: Known,
): Promise<ReviewProgress["reviewers"]> {
  const ranking: Ranking<[string, Workload]> = createRanking(
    limit,
    ([a, first], [b, second]) =>
      second.overdue - first.overdue ||
      second.assigned - second.submitted - (first.assigned - first.submitted) ||
      compareText(a, b),
  );
  for (const entry of byReviewer) ranking.add(entry);
  const shown = source.truncate("reviewers", ranking.list(), limit, ranking.count);
  const names = await loadReviewerNames(source, programId, new Set(shown.map(([reviewerId]) => reviewerId)));
  return shown.map(([reviewerId, workload]) => ({
    reviewerId,
    name: names.get(reviewerId) ?? null,
    ...showWorkload(workload, known),
  }));
}
