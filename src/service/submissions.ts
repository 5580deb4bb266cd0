import { limits } from "../contract/access/limits.ts";
import { problem, validationProblem } from "../contract/errors.ts";
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
import type { ChangeContext, Handler, WriteContext } from "../store/handler-context.ts";
import type { Reader, Transaction } from "../store/port.ts";
import type { Patch } from "../store/tables.ts";
import { checkFields, loadForm } from "./forms.ts";
import { getOrThrow, loadWritableProgram, requireVersion } from "./guards.ts";
import { type ApplicantColumns, enrolApplicant } from "./persons/applicant-resolution.ts";

export const list_submissions: Handler<"list_submissions"> = async ({ store }, input) => {
  const { programId, trackId, state, roundId, submittedFrom, submittedTo, updatedSince, ...page } = input;
  const scopeFilter = await resolveScopeFilter(store, { programId, trackId, roundId });
  if (!scopeFilter) return { rows: [] };
  const where = {
    ...scopeFilter,
    state,
    submittedAt: { gte: submittedFrom, lte: submittedTo },
    updatedAt: { gte: updatedSince },
  };
  if (updatedSince !== undefined) return store.page("submissions", { where }, "changed", page);
  // Limits the scan to submissions that existed at that time.
  const createdAt = submittedTo === undefined ? undefined : { lte: addClockSkew(submittedTo) };
  return store.page("submissions", { where: { ...where, createdAt } }, "newest", page);
};

/** Largest expected difference between the clocks of two processes. */
const clockSkewMs = 3_600_000;

/** Returns a later time, or `undefined` at the end of the calendar, where the text format of times changes. */
function addClockSkew(time: string): string | undefined {
  const later = new Date(Date.parse(time) + clockSkewMs).toISOString();
  return later > time ? later : undefined;
}

/**
 * Reduces the filters to the narrowest one, because a round belongs to one track and a track to one programme. Returns
 * `undefined` if they contradict each other; a query would have to look at every row to find that out.
 */
async function resolveScopeFilter(
  store: Reader,
  { programId, trackId, roundId }: Partial<Record<ScopeFilterKey, string | undefined>>,
) {
  const ids = [programId, trackId, roundId].filter((id) => id !== undefined);
  if (ids.length > 1) {
    const round = roundId === undefined ? undefined : await store.get("rounds", roundId);
    const track = roundId === undefined && trackId !== undefined ? await store.get("tracks", trackId) : round;
    if (!track || (programId ?? track.programId) !== track.programId) return undefined;
    if ((trackId ?? track.trackId) !== track.trackId) return undefined;
  }
  if (roundId !== undefined) return { currentRoundId: roundId };
  return trackId === undefined ? { programId } : { trackId };
}

type ScopeFilterKey = "programId" | "trackId" | "roundId";

export const get_submission: Handler<"get_submission"> = ({ store }, { submissionId }) =>
  getOrThrow(store, "submissions", submissionId);

export const create_submission: Handler<"create_submission"> = async (context, input) => {
  const track = await getOrThrow(context.store, "tracks", input.trackId);
  const program = await loadWritableProgram(context.store, track.programId);
  const applicant = await enrolApplicant(context, input, track);
  return createDraft(context, {
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
 * Creates a draft with its payment, if a fee is due.
 * @throws Problem `validation_failed`
 */
export async function createDraft({ store, newId, emit }: ChangeContext, draft: NewDraft): Promise<Submission> {
  const { program, track, applicant, deadline, source } = draft;
  const submissionId = newId("sub");
  const values = await applyFieldChange(store, { ...track, submissionId, fields: {} }, draft.fields);
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

export const update_submission: Handler<"update_submission"> = async (context, input) => {
  const { submission, program } = await loadWritableSubmission(context.store, input);
  const toState = input.state === "DRAFT" && submission.state === "DRAFT" ? undefined : input.state;
  if (toState === "WITHDRAWN") checkTransition("withdraw", submission.state, program);
  if (input.fields || input.deadline)
    checkTransition("edit", toState === "DRAFT" ? toState : submission.state, program);
  const patch = {
    deadline: input.deadline,
    ...(input.fields ? await applyFieldChange(context.store, submission, input.fields) : {}),
  };
  if (!toState) return context.store.update("submissions", submission, patch);
  return applyTransition(context, submission, { operation: "patch", toState, reason: input.reason, patch });
};

export const update_submission_fields: Handler<"update_submission_fields"> = ({ store }, input) =>
  editDraft(store, input, input.fields);

/**
 * Changes a draft's field values and further columns.
 * @throws Problem `not_found`, `version_conflict`, `program_archived`, `invalid_state_transition`, `validation_failed`
 */
export async function editDraft(
  store: Transaction,
  target: VersionedSubmission,
  fields: Readonly<Record<string, unknown>>,
  extra: Patch<"submissions"> = {},
): Promise<Submission> {
  const { submission } = await loadForTransition(store, target, "edit");
  return store.update("submissions", submission, {
    ...extra,
    ...(await applyFieldChange(store, submission, fields)),
  });
}

export const submit_submission: Handler<"submit_submission"> = async (context, input) => {
  const { store, now } = context;
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
  return applyTransition(context, submission, { operation: "submit", toState: "SUBMITTED" });
};

export const reopen_submission: Handler<"reopen_submission"> = async (context, input) => {
  const { submission } = await loadForTransition(context.store, input, "reopen");
  return applyTransition(context, submission, { operation: "reopen", toState: "DRAFT", reason: input.reason });
};

export const screen_submission: Handler<"screen_submission"> = async (context, input) => {
  const { submission } = await loadForTransition(context.store, input, "screen");
  const toState = input.eligible ? "ELIGIBLE" : "INELIGIBLE";
  return applyTransition(context, submission, { operation: "screen", toState, reason: input.reason });
};

export const advance_submission: Handler<"advance_submission"> = async (context, { toRoundId, ...input }) => {
  const { submission } = await loadForTransition(context.store, input, "advance");
  const round = await getOrThrow(context.store, "rounds", toRoundId);
  const createRoundProblem = (message: string) => validationProblem({ path: "toRoundId", code: "custom", message });
  if (round.trackId !== submission.trackId) throw createRoundProblem("The round belongs to another track");
  if (!round.active) throw problem("round_inactive", { roundId: toRoundId });
  const current = submission.currentRoundId && (await context.store.get("rounds", submission.currentRoundId));
  if (current && round.sequence <= current.sequence)
    throw createRoundProblem("The round is not later than the current one");
  const patch = { currentRoundId: toRoundId };
  return applyTransition(context, submission, {
    operation: "advance",
    toState: "IN_REVIEW",
    reason: input.reason,
    patch,
  });
};

export const eliminate_submission: Handler<"eliminate_submission"> = async (context, input) => {
  const { submission } = await loadForTransition(context.store, input, "eliminate");
  return applyTransition(context, submission, { operation: "eliminate", toState: "ELIMINATED", reason: input.reason });
};

export const set_submission_state: Handler<"set_submission_state"> = async (context, input) => {
  const { submission } = await loadForTransition(context.store, input, "state");
  if (submission.state === input.state) return submission;
  return applyTransition(context, submission, { operation: "state", toState: input.state, reason: input.reason });
};

export const withdraw_submission: Handler<"withdraw_submission"> = async (context, input) => {
  const { submission } = await loadForTransition(context.store, input, "withdraw");
  return applyTransition(context, submission, { operation: "withdraw", toState: "WITHDRAWN", reason: input.reason });
};

interface VersionedSubmission {
  readonly submissionId: string;
  readonly version: number;
}

interface WritableSubmission {
  readonly submission: Submission;
  readonly program: Program;
}

/** @throws Problem `not_found`, `version_conflict`, `program_archived` */
async function loadWritableSubmission(
  store: Reader,
  { submissionId, version }: VersionedSubmission,
): Promise<WritableSubmission> {
  const submission = await getOrThrow(store, "submissions", submissionId);
  requireVersion(submission, version);
  return { submission, program: await loadWritableProgram(store, submission.programId) };
}

/** Returns a submission in a state that allows an operation. */
async function loadForTransition(
  store: Reader,
  target: VersionedSubmission,
  operation: SubmissionOperation,
): Promise<WritableSubmission> {
  const { submission, program } = await loadWritableSubmission(store, target);
  checkTransition(operation, submission.state, program);
  return { submission, program };
}

interface TransitionRequest<O extends SubmissionOperation> {
  readonly operation: O;
  readonly toState: Destination<O>;
  readonly reason?: string | undefined;
  /** Changes in addition to the state. */
  readonly patch?: Patch<"submissions">;
}

/** Moves a submission to another state, with the fields that depend on it, cancelled assignments and events. */
async function applyTransition<O extends SubmissionOperation>(
  { store, now, emit }: WriteContext,
  submission: Submission,
  { operation, toState, reason, patch }: TransitionRequest<O>,
): Promise<Submission> {
  const updated = await store.update("submissions", submission, {
    ...createStateFields(toState, now),
    ...patch,
    state: toState,
    previousState: submission.state,
    stateReason: reason ?? null,
  });
  if (endsReviewing(toState)) await cancelAssignments(store, submission.submissionId, now);
  const ids = getEventIds(updated);
  emit("submission.state_changed", {
    ...ids,
    fromState: submission.state,
    toState: toState,
    operation,
    actorType: "token",
  });
  if (toState === "SUBMITTED") emit("submission.submitted", { ...ids, submittedAt: now });
  if (toState === "WITHDRAWN") emit("submission.withdrawn", { ...ids, withdrawnAt: now });
  return updated;
}

async function cancelAssignments(store: WriteContext["store"], submissionId: string, now: string): Promise<void> {
  for await (const assignment of store.scan("assignments", { where: { submissionId, status: incompleteStatuses } })) {
    await store.update("assignments", assignment, toEndedAssignment(assignment.status, now));
  }
}

/** Returns `fields` and `title` after a change of application fields, checked against the form. */
async function applyFieldChange(
  store: Reader,
  submission: Pick<Submission, "submissionId" | "schemaId" | "schemaVersion" | "fields">,
  change: Readonly<Record<string, unknown>>,
): Promise<Pick<Submission, "fields" | "title">> {
  const form = await loadForm(store, submission.schemaId, submission.schemaVersion);
  await checkFields(store, form, change, submission);
  const fields = mergeValues(submission.fields, change);
  return { fields, title: getTitle(form.fields, fields) };
}
