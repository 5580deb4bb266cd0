import type { Program, Round, Track } from "../contract/programs.ts";
import { type OpenWork, WorkKind } from "../contract/workflows/open-work.ts";
import { findDateConflicts, findSubmissionWork, waitingStates } from "../domain/workflows/open-work.ts";
import { createRanking, type Ranking } from "../domain/workflows/ranking.ts";
import type { RecordSource, WorkflowRunner } from "../upstream/port.ts";
import { compareText, getOrAdd, loadRows } from "./collections.ts";
import { loadReviewerNames } from "./reviewer-names.ts";

type WorkRow = OpenWork["work"][number]["rows"][number];

/** Work that depends on the state of a submission. */
const submissionKinds = ["unscreened", "not_in_round", "unassigned", "feedback_not_released"] as const;

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

export const list_open_work: WorkflowRunner<"list_open_work"> = async (source, input) => {
  const { programId, kinds = WorkKind.options, limit } = input;
  const isWanted = (...names: readonly WorkKind[]) => names.some((kind) => kinds.includes(kind));
  const program = await source.get("get_program", { programId });
  const lists = new Map(
    WorkKind.options.filter((kind) => isWanted(kind)).map((kind) => [kind, createRanking<WorkRow>(limit, compareRows)]),
  );
  const places = await loadPlaces(source, programId);
  const reviewers = isWanted("unassigned", "late_review", "conflict")
    ? await source.ifPermitted("unassigned submissions, late reviews, conflicts", () =>
        collectAssignments(source, programId, lists),
      )
    : undefined;
  const withFeedback = isWanted("feedback_not_released")
    ? await source.ifPermitted("feedback that is not released", () => collectFeedback(source, programId, lists))
    : undefined;
  if (isWanted("failed_email")) {
    await source.ifPermitted("failed e-mail", () => collectFailedEmail(source, programId, lists));
  }
  const titles = kinds.every((kind) => kind === "contradicting_dates")
    ? undefined
    : await source.ifPermitted("submissions, and their titles", () =>
        collectSubmissions(source, program, { reviewers, withFeedback }, lists),
      );
  collectDateConflicts(places, Date.parse(source.now), lists);
  const work = [...lists]
    .filter(([, list]) => list.count > 0)
    .map(([kind, list]) => ({
      kind,
      count: list.count,
      tools: [...tools[kind]],
      rows: source.truncate(kind, list.list(), limit, list.count),
    }));
  const reviewerIds = work.flatMap(({ rows }) => rows.flatMap(({ reviewerId }) => reviewerId ?? []));
  const names = await loadReviewerNames(source, programId, new Set(reviewerIds));
  const nameRow = createRowNamer(places, titles, names);
  return { programId, work: work.map((each) => ({ ...each, rows: each.rows.map(nameRow) })) };
};

const placeFields = {
  tracks: ["trackId", "name", "version", "intakeOpen", "intakeOpenDate", "intakeCloseDate"],
  rounds: ["roundId", "trackId", "name", "version", "sequence", "startDate", "endDate", "deadline"],
} as const;

/** The tracks and rounds of a programme. */
interface Places {
  readonly tracks: readonly Pick<Track, (typeof placeFields.tracks)[number]>[];
  readonly rounds: readonly Pick<Round, (typeof placeFields.rounds)[number]>[];
}

async function loadPlaces(source: RecordSource, programId: string): Promise<Places> {
  const tracks = await source.ifPermitted("names and dates of tracks", () =>
    loadRows(source.list("list_tracks", { programId }, placeFields.tracks)),
  );
  const rounds = await source.ifPermitted("names and dates of rounds", () =>
    loadRows(source.list("list_rounds", { programId }, placeFields.rounds)),
  );
  return { tracks: tracks ?? [], rounds: rounds ?? [] };
}

/** Returns a function that adds the names of a row's submission, track, round and reviewer. */
function createRowNamer(
  { tracks, rounds }: Places,
  titles: ReadonlyMap<string, string> | undefined,
  reviewers: ReadonlyMap<string, string>,
): (row: WorkRow) => WorkRow {
  const trackById = new Map(tracks.map((track) => [track.trackId, track]));
  const roundById = new Map(rounds.map((round) => [round.roundId, round]));
  return (row) => {
    const round = roundById.get(row.roundId ?? "");
    const trackId = row.trackId ?? round?.trackId;
    const names = {
      title: titles?.get(row.submissionId ?? ""),
      trackId,
      track: trackById.get(trackId ?? "")?.name,
      round: round?.name,
      reviewer: reviewers.get(row.reviewerId ?? ""),
    };
    return { ...row, ...Object.fromEntries(Object.entries(names).filter(([, name]) => name !== undefined)) };
  };
}

function compareRows(a: WorkRow, b: WorkRow): number {
  const getKey = ({ since, submissionId, assignmentId, feedbackId, emailSendId, roundId, trackId, detail }: WorkRow) =>
    [since ?? "", assignmentId, submissionId, feedbackId, emailSendId, trackId, roundId, detail].join(" ");
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
  const shown = ["assignmentId", "submissionId", "reviewerId", "roundId", "version"] as const;
  const fields = [...shown, "status", "dueAt", "respondedAt"] as const;
  for await (const assignments of source.list("list_assignments", { programId }, fields)) {
    for (const { status, dueAt, respondedAt, ...row } of assignments) {
      const isExpected = status === "assigned" || status === "accepted";
      if (status === "conflict") lists.get("conflict")?.add({ ...row, since: respondedAt });
      if (isExpected && dueAt !== null && Date.parse(dueAt) < nowMs)
        lists.get("late_review")?.add({ ...row, since: dueAt });
      if (!isExpected && status !== "completed") continue;
      const ofRound = getOrAdd(counts, row.roundId, () => new Map<string, number>());
      ofRound.set(row.submissionId, (ofRound.get(row.submissionId) ?? 0) + 1);
    }
  }
  return counts;
}

/**
 * Collects feedback that is written but not released, which only the audit shows. Returns the submissions that have
 * feedback, released or not.
 */
async function collectFeedback(source: RecordSource, programId: string, lists: Lists): Promise<ReadonlySet<string>> {
  const submissionIds = new Set<string>();
  const released = new Set<string>();
  for await (const feedback of source.list("list_released_feedback", { programId }, ["feedbackId", "submissionId"])) {
    for (const { feedbackId, submissionId } of feedback) {
      released.add(feedbackId);
      submissionIds.add(submissionId);
    }
  }
  await source.ifPermitted("ids of feedback that is not released", async () => {
    const filter = { programId, action: "feedback.prepared" };
    for await (const entries of source.list("list_audit_entries", filter, auditFields)) {
      for (const { entityId, submissionId, occurredAt } of entries) {
        if (entityId === null || submissionId === null || released.has(entityId)) continue;
        submissionIds.add(submissionId);
        lists.get("feedback_not_released")?.add({ submissionId, feedbackId: entityId, since: occurredAt });
      }
    }
  });
  return submissionIds;
}

interface Known {
  readonly reviewers: ReadonlyMap<string, ReadonlyMap<string, number>> | undefined;
  readonly withFeedback: ReadonlySet<string> | undefined;
}

/** Lists the submissions that wait for something. Returns titles of those that are listed for another reason. */
async function collectSubmissions(
  source: RecordSource,
  { programId, screeningRequired, assignmentRules }: Program,
  { reviewers, withFeedback }: Known,
  lists: Lists,
): Promise<ReadonlyMap<string, string>> {
  const listed = new Set<string>();
  for (const list of lists.values()) {
    for (const { submissionId } of list.list()) if (submissionId) listed.add(submissionId);
  }
  const titles = new Map<string, string>();
  const requiredReviews = assignmentRules.reviewsPerSubmission;
  const shown = ["submissionId", "title", "state", "currentRoundId", "trackId", "version"] as const;
  const fields = [...shown, "submittedAt", "decidedAt"] as const;
  const isStateWanted = submissionKinds.some((kind) => lists.has(kind));
  const narrowing = { ids: listed, states: isStateWanted ? waitingStates : [] };
  for await (const submissions of source.list("list_submissions", { programId }, fields, narrowing)) {
    for (const submission of submissions) {
      const { submissionId, title, trackId, currentRoundId, version } = submission;
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
        version,
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

function collectDateConflicts({ tracks, rounds }: Places, nowMs: number, lists: Lists): void {
  const versions = new Map([
    ...tracks.map(({ trackId, version }) => [trackId, version] as const),
    ...rounds.map(({ roundId, version }) => [roundId, version] as const),
  ]);
  for (const conflict of findDateConflicts(tracks, rounds, nowMs)) {
    const version = versions.get(conflict.roundId ?? conflict.trackId);
    lists.get("contradicting_dates")?.add({ ...conflict, ...(version === undefined ? {} : { version }) });
  }
}
