import { problem, validationProblem } from "../contract/errors.ts";
import { limits } from "../contract/limits.ts";
import type { Program, Track } from "../contract/programs.ts";
import type { Submission } from "../contract/submissions.ts";
import { incompleteStatuses, toEndedAssignment } from "../domain/assignments.ts";
import { mergeValues } from "../domain/fields.ts";
import { pickKeys } from "../domain/patch.ts";
import { computeFee, unpaidFields } from "../domain/payments.ts";
import {
  checkComplete,
  checkDeadline,
  checkIntake,
  checkTransition,
  createStateFields,
  type Destination,
  endsReviewing,
  getEventIds,
  getTitle,
  type SubmissionOperation,
} from "../domain/submissions.ts";
import { listOutstanding } from "../domain/supplements.ts";
import type { ChangeWork, Handler, WriteWork } from "../store/handler-context.ts";
import type { Reader, Transaction } from "../store/port.ts";
import type { Patch } from "../store/tables.ts";
import { type ApplicantColumns, enrolApplicant } from "./applicant-resolution.ts";
import { checkFields, loadForm } from "./forms.ts";
import { getOrThrow, loadWritableProgram, requireVersion } from "./guards.ts";

export const list_submissions: Handler<"list_submissions"> = async ({ store }, input) => {
  const { programId, trackId, state, roundId, submittedFrom, submittedTo, updatedSince, ...page } = input;
  const home = await resolveScopeFilter(store, { programId, trackId, roundId });
  if (!home) return { rows: [] };
  const where = {
    ...home,
    state,
    submittedAt: { gte: submittedFrom, lte: submittedTo },
    updatedAt: { gte: updatedSince },
  };
  if (updatedSince !== undefined) return store.page("submissions", { where }, "changed", page);
  // So that the list begins where there can be some.
  const createdAt = submittedTo === undefined ? undefined : { lte: addClockSkew(submittedTo) };
  return store.page("submissions", { where: { ...where, createdAt } }, "newest", page);
};

/** By how much the clocks of two processes may differ. */
const clockSkewMs = 3_600_000;

/** Nothing at the end of the calendar, where times are written otherwise. */
function addClockSkew(time: string): string | undefined {
  const later = new Date(Date.parse(time) + clockSkewMs).toISOString();
  return later > time ? later : undefined;
}

/**
 * Where submissions are to be, by the narrowest of these alone: a round is of one track, and a track of one programme.
 * Nothing where they contradict each other: to find that out row by row would take a look at each.
 */
async function resolveScopeFilter(
  store: Reader,
  { programId, trackId, roundId }: Partial<Record<Home, string | undefined>>,
) {
  const named = [programId, trackId, roundId].filter((id) => id !== undefined);
  if (named.length > 1) {
    const narrow = roundId === undefined ? undefined : await store.get("rounds", roundId);
    const track = roundId === undefined && trackId !== undefined ? await store.get("tracks", trackId) : narrow;
    if (!track || (programId ?? track.programId) !== track.programId) return undefined;
    if ((trackId ?? track.trackId) !== track.trackId) return undefined;
  }
  if (roundId !== undefined) return { currentRoundId: roundId };
  return trackId === undefined ? { programId } : { trackId };
}

type Home = "programId" | "trackId" | "roundId";

export const get_submission: Handler<"get_submission"> = ({ store }, { submissionId }) =>
  getOrThrow(store, "submissions", submissionId);

export const create_submission: Handler<"create_submission"> = async (work, input) => {
  const track = await getOrThrow(work.store, "tracks", input.trackId);
  const program = await loadWritableProgram(work.store, track.programId);
  const applicant = await enrolApplicant(work, input, track);
  return beginDraft(work, {
    ...pickKeys(input, "fields", "deadline"),
    program,
    track,
    applicant,
    source: "integration",
  });
};

interface NewDraft extends Pick<Submission, "fields" | "deadline" | "source"> {
  readonly program: Program;
  readonly track: Track;
  readonly applicant: ApplicantColumns;
}

/**
 * A new draft, with the fee that it will owe.
 * @throws Problem `validation_failed`
 */
export async function beginDraft({ store, newId, emit }: ChangeWork, draft: NewDraft): Promise<Submission> {
  const { program, track, applicant, deadline, source } = draft;
  const submissionId = newId("sub");
  const values = await resolveChangedValues(store, { ...track, submissionId, fields: {} }, draft.fields);
  const ids = { submissionId, programId: program.programId, trackId: track.trackId };
  const fee = computeFee(program, track);
  const submission = await store.insert("submissions", {
    ...ids,
    ...applicant,
    ...values,
    currentRoundId: null,
    state: "DRAFT",
    schemaId: track.schemaId,
    schemaVersion: track.schemaVersion,
    deadline,
    source,
    eligible: null,
    stateReason: null,
    previousState: null,
    submittedAt: null,
    screenedAt: null,
    withdrawnAt: null,
    decidedAt: null,
    paymentStatus: fee ? "pending" : null,
    fileIds: [],
  });
  if (fee) {
    await store.insert("payments", { paymentId: newId("pay"), ...ids, ...fee, ...unpaidFields });
  }
  emit("submission.draft_created", { ...getEventIds(submission), source });
  return submission;
}

export const update_submission: Handler<"update_submission"> = async (work, input) => {
  const { submission, program } = await loadWritable(work.store, input);
  const to = input.state === "DRAFT" && submission.state === "DRAFT" ? undefined : input.state;
  if (to === "WITHDRAWN") checkTransition("withdraw", submission.state, program);
  if (input.fields || input.deadline) checkTransition("edit", to === "DRAFT" ? to : submission.state, program);
  const patch = {
    deadline: input.deadline,
    ...(input.fields ? await resolveChangedValues(work.store, submission, input.fields) : {}),
  };
  if (!to) return work.store.update("submissions", submission, patch);
  return applyTransition(work, submission, { operation: "patch", to, reason: input.reason, patch });
};

export const update_submission_fields: Handler<"update_submission_fields"> = ({ store }, input) =>
  editDraft(store, input, input.fields);

/**
 * Changes what a draft says, and what more is to change with it.
 * @throws Problem `not_found`, `version_conflict`, `program_archived`, `invalid_state_transition`, `validation_failed`
 */
export async function editDraft(
  store: Transaction,
  target: Target,
  fields: Readonly<Record<string, unknown>>,
  more: Patch<"submissions"> = {},
): Promise<Submission> {
  const { submission } = await loadForTransition(store, target, "edit");
  return store.update("submissions", submission, {
    ...more,
    ...(await resolveChangedValues(store, submission, fields)),
  });
}

export const submit_submission: Handler<"submit_submission"> = async (work, input) => {
  const { store, now } = work;
  const { submission, program } = await loadForTransition(store, input, "submit");
  const track = await getOrThrow(store, "tracks", submission.trackId);
  checkDeadline(submission, now);
  checkIntake(track, now);
  const form = await loadForm(store, submission.schemaId, submission.schemaVersion);
  checkComplete(submission, form.fields, program, track);
  if (!input.acknowledgeSupplementWarnings) {
    const where = { submissionId: submission.submissionId };
    const supplements = listOutstanding(
      await store.find("supplements", { where }, { limit: limits.listedSupplements }),
    );
    if (supplements.length > 0) throw problem("supplement_warnings", { supplements });
  }
  return applyTransition(work, submission, { operation: "submit", to: "SUBMITTED" });
};

export const reopen_submission: Handler<"reopen_submission"> = async (work, input) => {
  const { submission } = await loadForTransition(work.store, input, "reopen");
  return applyTransition(work, submission, { operation: "reopen", to: "DRAFT", reason: input.reason });
};

export const screen_submission: Handler<"screen_submission"> = async (work, input) => {
  const { submission } = await loadForTransition(work.store, input, "screen");
  const to = input.eligible ? "ELIGIBLE" : "INELIGIBLE";
  return applyTransition(work, submission, { operation: "screen", to, reason: input.reason });
};

export const advance_submission: Handler<"advance_submission"> = async (work, { toRoundId, ...input }) => {
  const { submission } = await loadForTransition(work.store, input, "advance");
  const round = await getOrThrow(work.store, "rounds", toRoundId);
  const refuse = (message: string) => validationProblem({ path: "toRoundId", code: "custom", message });
  if (round.trackId !== submission.trackId) throw refuse("The round belongs to another track");
  if (!round.active) throw problem("round_inactive", { roundId: toRoundId });
  const current = submission.currentRoundId && (await work.store.get("rounds", submission.currentRoundId));
  if (current && round.sequence <= current.sequence) throw refuse("The round is not later than the current one");
  const patch = { currentRoundId: toRoundId };
  return applyTransition(work, submission, { operation: "advance", to: "IN_REVIEW", reason: input.reason, patch });
};

export const eliminate_submission: Handler<"eliminate_submission"> = async (work, input) => {
  const { submission } = await loadForTransition(work.store, input, "eliminate");
  return applyTransition(work, submission, { operation: "eliminate", to: "ELIMINATED", reason: input.reason });
};

export const set_submission_state: Handler<"set_submission_state"> = async (work, input) => {
  const { submission } = await loadForTransition(work.store, input, "state");
  if (submission.state === input.state) return submission;
  return applyTransition(work, submission, { operation: "state", to: input.state, reason: input.reason });
};

export const withdraw_submission: Handler<"withdraw_submission"> = async (work, input) => {
  const { submission } = await loadForTransition(work.store, input, "withdraw");
  return applyTransition(work, submission, { operation: "withdraw", to: "WITHDRAWN", reason: input.reason });
};

interface Target {
  readonly submissionId: string;
  readonly version: number;
}

interface Writable {
  readonly submission: Submission;
  readonly program: Program;
}

/** @throws Problem `not_found`, `version_conflict`, `program_archived` */
async function loadWritable(store: Reader, { submissionId, version }: Target): Promise<Writable> {
  const submission = await getOrThrow(store, "submissions", submissionId);
  requireVersion(submission, version);
  return { submission, program: await loadWritableProgram(store, submission.programId) };
}

/** A submission in a state that an operation may start from. */
async function loadForTransition(store: Reader, target: Target, operation: SubmissionOperation): Promise<Writable> {
  const { submission, program } = await loadWritable(store, target);
  checkTransition(operation, submission.state, program);
  return { submission, program };
}

interface Step<O extends SubmissionOperation> {
  readonly operation: O;
  readonly to: Destination<O>;
  readonly reason?: string | undefined;
  /** What changes beside the state. */
  readonly patch?: Patch<"submissions">;
}

/** Brings a submission to another state, with all that goes along: marks, ended assignments, events. */
async function applyTransition<O extends SubmissionOperation>(
  { store, now, emit }: WriteWork,
  submission: Submission,
  { operation, to, reason, patch }: Step<O>,
): Promise<Submission> {
  const updated = await store.update("submissions", submission, {
    ...createStateFields(to, now),
    ...patch,
    state: to,
    previousState: submission.state,
    stateReason: reason ?? null,
  });
  if (endsReviewing(to)) await cancelAssignments(store, submission.submissionId, now);
  const ids = getEventIds(updated);
  emit("submission.state_changed", { ...ids, fromState: submission.state, toState: to, operation, actorType: "token" });
  if (to === "SUBMITTED") emit("submission.submitted", { ...ids, submittedAt: now });
  if (to === "WITHDRAWN") emit("submission.withdrawn", { ...ids, withdrawnAt: now });
  return updated;
}

async function cancelAssignments(store: WriteWork["store"], submissionId: string, now: string): Promise<void> {
  for await (const assignment of store.scan("assignments", { where: { submissionId, status: incompleteStatuses } })) {
    await store.update("assignments", assignment, toEndedAssignment(assignment.status, now));
  }
}

/** `fields` and `title` after a change of application fields, checked against the form. */
async function resolveChangedValues(
  store: Reader,
  submission: Pick<Submission, "submissionId" | "schemaId" | "schemaVersion" | "fields">,
  change: Readonly<Record<string, unknown>>,
): Promise<Pick<Submission, "fields" | "title">> {
  const form = await loadForm(store, submission.schemaId, submission.schemaVersion);
  await checkFields(store, form, change, submission);
  const fields = mergeValues(submission.fields, change);
  return { fields, title: getTitle(form.fields, fields) };
}
