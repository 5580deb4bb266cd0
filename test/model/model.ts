import { assignmentHandlers, endAssignment, requireActiveRound } from "./assignments.ts";
import { exportHandlers, observeExports } from "./exports.ts";
import { feedbackHandlers } from "./feedback.ts";
import { listHandlers, observeCursors } from "./lists.ts";
import { personHandlers } from "./persons.ts";
import { programHandlers } from "./programs.ts";
import {
  type AnsweredBody,
  audit,
  type Expected,
  emit,
  type Handler,
  type ModelRequest,
  type ModelSubmission,
  type ModelTenant,
  ok,
  Refusal,
  requireWritable,
  showSubmission,
} from "./tenant.ts";

/**
 * A reference model of submissions, supplements, programmes, tracks, rounds, assignments, feedback, persons and
 * exports of one tenant. It follows the specification (2.5, 2.7, 3.1, 3.2, 4.2–4.5, 4.7–4.10, 5, 8) and shares no code
 * with the program.
 */

const beforeReview = ["SUBMITTED", "ELIGIBLE", "INELIGIBLE"];

/**
 * Applies a request to the model, and returns the answer that it must get.
 * @param data - `data` of the real answer, which gives the ids of new records
 * @param meta - `meta` of the real answer, which gives the cursor of a next page
 * @param text - the real answer, which is saved for a repetition
 */
export function applyRequest(
  tenant: ModelTenant,
  request: ModelRequest,
  { data, meta }: AnsweredBody,
  text: string,
): Expected {
  const isRead = isReadOperation(request.name);
  if (!request.isGranted) return { status: 403, code: "insufficient_scope" };
  const fingerprint = `${request.key} ${request.name} ${JSON.stringify(request.input)}`;
  const saved = request.key === undefined ? undefined : tenant.answers.get(fingerprint);
  if (saved !== undefined) return { status: 0, replayed: saved };
  const expected = applyOnce(tenant, request, { data, meta });
  if (request.key !== undefined && !isRead && isSaved(expected)) tenant.answers.set(fingerprint, text);
  return expected;
}

export function isReadOperation(name: string): boolean {
  return /^(get|list|resolve)_/.test(name);
}

const lastingRefusals = ["not_found", "version_conflict", "person_merged"];

/** Refusals that a later change can lift are not saved. */
function isSaved({ code }: Expected): boolean {
  return code === undefined || lastingRefusals.includes(code);
}

function applyOnce(
  tenant: ModelTenant,
  { name, input, caller }: ModelRequest,
  { data = {}, meta }: AnsweredBody,
): Expected {
  const before = structuredClone(tenant);
  try {
    const expected = handlers[name as ModelOperation](tenant, input, data, { ...caller, meta });
    if (!isReadOperation(name)) {
      observeExports(tenant);
      observeCursors(tenant);
    }
    return expected;
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    Object.assign(tenant, before);
    return { status: error.status, code: error.code };
  }
}

/** Returns a new draft. */
export function createModelSubmission(
  submissionId: string,
  title: string | null,
  applicant: Pick<ModelSubmission, "innovatorEmail" | "applicantName">,
): ModelSubmission {
  const empty = { previousState: null, stateReason: null, eligible: null, currentRoundId: null };
  return { submissionId, state: "DRAFT", title, ...empty, ...applicant, version: 0, assignments: [] };
}

const handlers = {
  ...personHandlers,
  ...assignmentHandlers,
  ...feedbackHandlers,
  ...programHandlers,
  ...exportHandlers,
  ...listHandlers,
  get_submission: (tenant, { submissionId }) => ok(showSubmission(findSubmission(tenant, submissionId))),
  list_submission_supplements(tenant, { submissionId }) {
    const isFirst = findSubmission(tenant, submissionId) === tenant.submissions[0];
    const { supplementResponseId } = tenant.fixed;
    return ok(isFirst ? [{ supplementResponseId, ...tenant.supplement }] : []);
  },
  create_submission(tenant, { fields, innovatorEmail, innovatorName }, answered) {
    requireWritable(tenant);
    const submissionId = String(answered["submissionId"]);
    const applicant = { innovatorEmail, applicantName: innovatorName };
    const submission = createModelSubmission(submissionId, fields[tenant.fixed.titleFieldId] ?? null, applicant);
    if (tenant.submissions.some((each) => each.submissionId === submissionId)) throw new Error("An id comes twice");
    tenant.submissions.push(submission);
    emit(tenant, submission, "submission.draft_created");
    audit(tenant, submissionId, "submission.created");
    return ok(showSubmission(submission));
  },
  update_submission_fields(tenant, input) {
    const submission = loadForChange(tenant, input, ["DRAFT"]);
    return changeTitle(tenant, submission, input.fields, "submission.fields_updated");
  },
  update_submission(tenant, input) {
    const submission = loadForChange(tenant, input);
    const to = input.state === "DRAFT" && submission.state === "DRAFT" ? undefined : input.state;
    if (to === "WITHDRAWN" && submission.state === "WITHDRAWN") throw new Refusal(409, "invalid_state_transition");
    if (input.fields && to !== "DRAFT" && submission.state !== "DRAFT")
      throw new Refusal(409, "invalid_state_transition");
    if (to === undefined) return changeTitle(tenant, submission, input.fields ?? {}, "submission.updated");
    if (input.fields) submission.title = input.fields[tenant.fixed.titleFieldId];
    return move(tenant, submission, to, { action: "submission.updated", operation: "patch", reason: input.reason });
  },
  submit_submission(tenant, input) {
    const submission = loadForChange(tenant, input, ["DRAFT"]);
    if (!tenant.track.intakeOpen) throw new Refusal(409, "intake_closed");
    if (submission.title === null) throw new Refusal(409, "incomplete_application");
    return move(tenant, submission, "SUBMITTED", { action: "submission.submitted", operation: "submit" });
  },
  reopen_submission(tenant, input) {
    const submission = loadForChange(tenant, input, beforeReview);
    const { reason } = input;
    return move(tenant, submission, "DRAFT", { action: "submission.reopened", operation: "reopen", reason });
  },
  screen_submission(tenant, input) {
    const submission = loadForChange(tenant, input, beforeReview);
    submission.eligible = input.eligible;
    const to = input.eligible ? "ELIGIBLE" : "INELIGIBLE";
    return move(tenant, submission, to, { action: "submission.screened", operation: "screen", reason: input.reason });
  },
  advance_submission(tenant, input) {
    const { screeningRequired, roundIds } = tenant.fixed;
    const unscreened = screeningRequired ? [] : ["SUBMITTED"];
    const submission = loadForChange(tenant, input, [...unscreened, "ELIGIBLE", "IN_REVIEW", "FINALIST"]);
    const to = roundIds.indexOf(input.toRoundId);
    requireActiveRound(tenant, input.toRoundId);
    if (submission.currentRoundId !== null && to <= roundIds.indexOf(submission.currentRoundId))
      throw new Refusal(400, "validation_failed");
    submission.currentRoundId = input.toRoundId;
    return move(tenant, submission, "IN_REVIEW", { action: "submission.advanced", operation: "advance" });
  },
  eliminate_submission(tenant, input) {
    const submission = loadForChange(tenant, input, [...beforeReview, "IN_REVIEW", "FINALIST"]);
    const { reason } = input;
    return move(tenant, submission, "ELIMINATED", { action: "submission.eliminated", operation: "eliminate", reason });
  },
  set_submission_state(tenant, input) {
    const submission = loadForChange(tenant, input);
    if (submission.state === input.state) return ok(showSubmission(submission));
    return move(tenant, submission, input.state, { ...input, action: "submission.state_set", operation: "state" });
  },
  withdraw_submission(tenant, input) {
    const submission = loadForChange(tenant, input);
    if (submission.state === "WITHDRAWN") throw new Refusal(409, "invalid_state_transition");
    const { reason } = input;
    return move(tenant, submission, "WITHDRAWN", { action: "submission.withdrawn", operation: "withdraw", reason });
  },
  update_supplement(tenant, { status, ...input }) {
    const submission = loadForSupplement(tenant, input);
    if (status === "submitted" && tenant.supplement.status !== status)
      emit(tenant, submission, "supplement.response.submitted");
    return setSupplementStatus(tenant, status, "supplement.updated");
  },
  close_supplement(tenant, input) {
    loadForSupplement(tenant, input);
    if (tenant.supplement.status === "closed") throw new Refusal(409, "invalid_state_transition");
    return setSupplementStatus(tenant, "closed", "supplement.closed");
  },
  reopen_supplement(tenant, input) {
    loadForSupplement(tenant, input);
    if (tenant.supplement.status !== "closed") throw new Refusal(409, "invalid_state_transition");
    return setSupplementStatus(tenant, "draft", "supplement.reopened");
  },
} as const satisfies Record<string, Handler>;

export type ModelOperation = keyof typeof handlers;

function findSubmission({ submissions }: ModelTenant, submissionId: string): ModelSubmission {
  const submission = submissions.find((each) => each.submissionId === submissionId);
  if (!submission) throw new Refusal(404, "not_found");
  return submission;
}

function loadForChange(
  tenant: ModelTenant,
  { submissionId, version }: { submissionId: string; version: number },
  from?: readonly string[],
): ModelSubmission {
  const submission = findSubmission(tenant, submissionId);
  if (submission.version !== version) throw new Refusal(409, "version_conflict");
  requireWritable(tenant);
  if (from && !from.includes(submission.state)) throw new Refusal(409, "invalid_state_transition");
  return submission;
}

/** Returns the submission of a supplement, which only the first one has. */
function loadForSupplement(tenant: ModelTenant, { submissionId, version }: ModelRequest["input"]): ModelSubmission {
  const submission = findSubmission(tenant, submissionId);
  if (submission !== tenant.submissions[0]) throw new Refusal(404, "not_found");
  if (tenant.supplement.version !== version) throw new Refusal(409, "version_conflict");
  requireWritable(tenant);
  return submission;
}

function setSupplementStatus(tenant: ModelTenant, status: string, action: string): Expected {
  const { supplement } = tenant;
  if (supplement.status !== status) {
    Object.assign(supplement, { status, version: supplement.version + 1 });
    audit(tenant, tenant.fixed.supplementResponseId, action);
  }
  return ok({ ...supplement });
}

function changeTitle(
  tenant: ModelTenant,
  submission: ModelSubmission,
  fields: Readonly<Record<string, string | null>>,
  action: string,
): Expected {
  const title = fields[tenant.fixed.titleFieldId];
  if (title !== undefined && title !== submission.title) {
    submission.title = title;
    submission.version += 1;
    audit(tenant, submission.submissionId, action);
  }
  return ok(showSubmission(submission));
}

interface Move {
  readonly action: string;
  readonly operation: string;
  readonly reason?: string;
}

function move(tenant: ModelTenant, submission: ModelSubmission, to: string, { action, operation, reason }: Move) {
  const from = submission.state;
  Object.assign(submission, { state: to, previousState: from, stateReason: reason ?? null });
  submission.version += 1;
  if (to === "DRAFT") Object.assign(submission, { currentRoundId: null, eligible: null });
  if (["DRAFT", "WITHDRAWN", "ELIMINATED"].includes(to)) {
    for (const each of submission.assignments) if (each.active) endAssignment(tenant, each, "assignment.updated");
  }
  audit(tenant, submission.submissionId, action);
  emit(tenant, submission, "submission.state_changed", `${from} ${to} ${operation}`);
  if (to === "SUBMITTED") emit(tenant, submission, "submission.submitted");
  if (to === "WITHDRAWN") emit(tenant, submission, "submission.withdrawn");
  return ok(showSubmission(submission));
}
