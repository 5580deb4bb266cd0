import type { Program } from "../contract/programs.ts";
import { type OpenWork, WorkKind } from "../contract/workflows/open-work.ts";
import { findDateConflicts, findSubmissionWork } from "../domain/workflows/open-work.ts";
import { createRanking, type Ranking } from "../domain/workflows/ranking.ts";
import type { RecordSource, WorkflowRunner } from "../upstream/port.ts";
import { compareText, getOrAdd, loadRows } from "./collections.ts";
import { loadReviewerNames } from "./reviewer-names.ts";

type WorkRow = OpenWork["work"][number]["rows"][number];

/** The tools that do each kind of work. */
const tools: Readonly<Record<WorkKind, readonly string[]>> = {
  unscreened: ["screen_submission"],
  not_in_round: ["advance_submission", "eliminate_submission"],
  unassigned: ["bulk_assign_reviewers", "auto_assign_reviewers"],
  late_review: ["send_bulk_email", "reassign_assignment"],
  conflict: ["reassign_assignment", "delete_assignment"],
  feedback_not_released: ["release_feedback"],
  failed_email: ["send_bulk_email"],
  contradicting_dates: ["update_track", "update_round"],
};

/** The rows of each kind of work that have waited longest. */
type Lists = ReadonlyMap<WorkKind, Ranking<WorkRow>>;

export const list_open_work: WorkflowRunner<"list_open_work"> = async (source, { programId, limit }) => {
  const program = await source.get("get_program", { programId });
  const lists = new Map(WorkKind.options.map((kind) => [kind, createRanking<WorkRow>(limit, compareRows)]));
  const reviewers = await source.ifPermitted("unassigned submissions, late reviews, conflicts", () =>
    collectAssignments(source, programId, lists),
  );
  const withFeedback = await source.ifPermitted("feedback that is not released", () => listReleased(source, programId));
  const titles = await source.ifPermitted("submissions, and their titles", () =>
    collectSubmissions(source, program, { reviewers, withFeedback }, lists),
  );
  await source.ifPermitted("failed e-mail", () => collectFailedEmail(source, programId, lists));
  await source.ifPermitted("contradicting dates", () => collectDateConflicts(source, programId, lists));
  const kinds = [...lists].filter(([, list]) => list.count > 0);
  const work = kinds.map(([kind, list]) => ({
    kind,
    count: list.count,
    tools: [...tools[kind]],
    rows: source.truncate(kind, list.list(), limit, list.count),
  }));
  const reviewerIds = work.flatMap(({ rows }) => rows.flatMap(({ reviewerId }) => reviewerId ?? []));
  const names = await loadReviewerNames(source, programId, new Set(reviewerIds));
  return {
    programId,
    work: work.map((each) => ({ ...each, rows: each.rows.map((row) => nameRow(row, titles, names)) })),
  };
};

function nameRow(
  row: WorkRow,
  titles: ReadonlyMap<string, string> | undefined,
  names: ReadonlyMap<string, string>,
): WorkRow {
  const title = row.submissionId === undefined ? undefined : titles?.get(row.submissionId);
  const reviewer = row.reviewerId === undefined ? undefined : names.get(row.reviewerId);
  return { ...row, ...(title === undefined ? {} : { title }), ...(reviewer === undefined ? {} : { reviewer }) };
}

function compareRows(a: WorkRow, b: WorkRow): number {
  const getKey = ({ since, submissionId, assignmentId, emailSendId, roundId, trackId, detail }: WorkRow) =>
    [since ?? "", assignmentId, submissionId, emailSendId, trackId, roundId, detail].join(" ");
  return compareText(getKey(a), getKey(b));
}

/** Returns how many reviewers each submission has in each round, those in conflict not counted. */
async function collectAssignments(
  source: RecordSource,
  programId: string,
  lists: Lists,
): Promise<ReadonlyMap<string, ReadonlyMap<string, number>>> {
  const counts = new Map<string, Map<string, number>>();
  const nowMs = Date.parse(source.now);
  const fields = ["assignmentId", "submissionId", "reviewerId", "roundId", "status", "dueAt", "respondedAt"] as const;
  for await (const assignments of source.list("list_assignments", { programId }, fields)) {
    for (const { status, dueAt, respondedAt, ...ids } of assignments) {
      const isExpected = status === "assigned" || status === "accepted";
      if (status === "conflict") lists.get("conflict")?.add({ ...ids, since: respondedAt });
      if (isExpected && dueAt !== null && Date.parse(dueAt) < nowMs)
        lists.get("late_review")?.add({ ...ids, since: dueAt });
      if (!isExpected && status !== "completed") continue;
      const ofRound = getOrAdd(counts, ids.roundId, () => new Map<string, number>());
      ofRound.set(ids.submissionId, (ofRound.get(ids.submissionId) ?? 0) + 1);
    }
  }
  return counts;
}

async function listReleased(source: RecordSource, programId: string): Promise<ReadonlySet<string>> {
  const submissionIds = new Set<string>();
  for await (const feedback of source.list("list_released_feedback", { programId }, ["submissionId"])) {
    for (const { submissionId } of feedback) submissionIds.add(submissionId);
  }
  return submissionIds;
}

interface Known {
  readonly reviewers: ReadonlyMap<string, ReadonlyMap<string, number>> | undefined;
  readonly withFeedback: ReadonlySet<string> | undefined;
}

/** Lists the submissions that wait for something. Returns titles of these and of the listed assignments. */
async function collectSubmissions(
  source: RecordSource,
  { programId, screeningRequired, assignmentRules }: Program,
  { reviewers, withFeedback }: Known,
  lists: Lists,
): Promise<ReadonlyMap<string, string>> {
  const listed = new Set<string>();
  for (const kind of ["late_review", "conflict"] as const) {
    for (const { submissionId } of lists.get(kind)?.list() ?? []) if (submissionId) listed.add(submissionId);
  }
  const titles = new Map<string, string>();
  const requiredReviews = assignmentRules.reviewsPerSubmission;
  const fields = ["submissionId", "title", "state", "currentRoundId", "trackId", "submittedAt", "decidedAt"] as const;
  for await (const submissions of source.list("list_submissions", { programId }, fields)) {
    for (const submission of submissions) {
      const { submissionId, title, trackId, currentRoundId } = submission;
      if (title !== null && listed.has(submissionId)) titles.set(submissionId, title);
      const work = findSubmissionWork(submission, {
        screeningRequired,
        requiredReviews,
        reviewers: reviewers && (reviewers.get(currentRoundId ?? "")?.get(submissionId) ?? 0),
        hasFeedback: withFeedback?.has(submissionId),
      });
      if (!work) continue;
      const { kind, since, detail } = work;
      lists.get(kind)?.add({
        submissionId,
        title,
        trackId,
        ...(currentRoundId === null ? {} : { roundId: currentRoundId }),
        since,
        ...(detail === undefined ? {} : { detail }),
      });
    }
  }
  return titles;
}

/** The audit shows failures of all recipients; the list of e-mails shows those of one. */
async function collectFailedEmail(source: RecordSource, programId: string, lists: Lists): Promise<void> {
  const requeuedAt = new Map<string, string>();
  for await (const entries of source.list(
    "list_audit_entries",
    { programId, action: "email_send.requeued" },
    auditFields,
  )) {
    // Newest first.
    for (const { entityId, occurredAt } of entries) getOrAdd(requeuedAt, entityId ?? "", () => occurredAt);
  }
  for (const status of ["failed", "bounced"]) {
    for await (const entries of source.list(
      "list_audit_entries",
      { programId, action: `email_send.${status}` },
      auditFields,
    )) {
      for (const { entityId, submissionId, occurredAt } of entries) {
        if (entityId === null || (requeuedAt.get(entityId) ?? "") > occurredAt) continue;
        const ofSubmission = submissionId === null ? {} : { submissionId };
        lists.get("failed_email")?.add({ emailSendId: entityId, ...ofSubmission, since: occurredAt, detail: status });
      }
    }
  }
}

const auditFields = ["entityId", "submissionId", "occurredAt"] as const;

async function collectDateConflicts(source: RecordSource, programId: string, lists: Lists): Promise<void> {
  const trackFields = ["trackId", "intakeOpen", "intakeOpenDate", "intakeCloseDate"] as const;
  const roundFields = ["roundId", "trackId", "sequence", "startDate", "endDate", "deadline"] as const;
  const tracks = await loadRows(source.list("list_tracks", { programId }, trackFields));
  const rounds = await loadRows(source.list("list_rounds", { programId }, roundFields));
  const conflicts = findDateConflicts(tracks, rounds, Date.parse(source.now));
  for (const conflict of conflicts) lists.get("contradicting_dates")?.add(conflict);
}
