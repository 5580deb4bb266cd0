import { endAssignment, requireActiveRound } from "./assignments.ts";
import { enrolApplicant } from "./dated-lists/applicants.ts";
import {
  audit,
  type Expected,
  emit,
  findSubmission,
  type Handler,
  incompleteStatuses,
  type ModelRequest,
  type ModelSubmission,
  type ModelTenant,
  ok,
  Refusal,
  requireWritable,
  showSubmission,
} from "./tenant.ts";

const beforeReview = ["SUBMITTED", "ELIGIBLE", "INELIGIBLE"];

/** The part of the reference model that changes submissions and their supplements (specification 3.1, 3.3, 4.2). */
export const submissionHandlers = {
  get_submission: (tenant, { submissionId }) => ok(showSubmission(findSubmission(tenant, submissionId))),
  list_submission_supplements(tenant, { submissionId }) {
    const isFirst = findSubmission(tenant, submissionId) === tenant.submissions[0];
    const { supplementResponseId } = tenant.fixed;
    return ok(isFirst ? [{ supplementResponseId, ...tenant.supplement }] : []);
  },
  create_submission(tenant, { fields, innovatorEmail, innovatorName }, answered, context) {
    requireWritable(tenant);
    const submissionId = String(answered["submissionId"]);
    const { titleFieldId, domainFieldId } = tenant.fixed;
    const given = { innovatorEmail, applicantName: innovatorName, domain: fields[domainFieldId] ?? null };
    const submission = createModelSubmission(submissionId, fields[titleFieldId] ?? null, given);
    if (tenant.submissions.some((each) => each.submissionId === submissionId)) throw new Error("An id comes twice");
    const { applicantId, innovatorId } = enrolApplicant(tenant, { innovatorEmail, innovatorName }, answered, context);
    tenant.submissions.push(submission);
    emit(tenant, submission, "submission.draft_created");
    audit(tenant, submissionId, "submission.created");
    return ok({ ...showSubmission(submission), applicantId, innovatorId });
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

/** Returns a new draft. */
export function createModelSubmission(
  submissionId: string,
  title: string | null,
  given: Pick<ModelSubmission, "innovatorEmail" | "applicantName" | "domain">,
): ModelSubmission {
  const empty = { previousState: null, stateReason: null, eligible: null, currentRoundId: null };
  return { submissionId, state: "DRAFT", title, ...empty, ...given, version: 0, assignments: [] };
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
    const incomplete = submission.assignments.filter(({ status }) => incompleteStatuses.includes(status));
    for (const each of incomplete) endAssignment(tenant, each, "assignment.updated");
  }
  audit(tenant, submission.submissionId, action);
  emit(tenant, submission, "submission.state_changed", `${from} ${to} ${operation}`);
  if (to === "SUBMITTED") emit(tenant, submission, "submission.submitted");
  if (to === "WITHDRAWN") emit(tenant, submission, "submission.withdrawn");
  return ok(showSubmission(submission));
}
