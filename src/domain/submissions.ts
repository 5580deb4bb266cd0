import { type Issue, problem } from "../contract/errors.ts";
import type { Program, Track } from "../contract/programs.ts";
import { type Submission, SubmissionState } from "../contract/submissions.ts";
import { checkValues, type FieldDefinition, listMissingRequired } from "./fields.ts";
import { computeFee, isSettled } from "./payments.ts";

interface Move {
  readonly from: readonly SubmissionState[];
  readonly to: readonly SubmissionState[];
}

const beforeReview = ["SUBMITTED", "ELIGIBLE", "INELIGIBLE"] as const;

/** The submission's state machine: what each operation may start from and lead to. `patch` is PATCH with a `state`. */
const moves = {
  edit: { from: ["DRAFT"], to: ["DRAFT"] },
  submit: { from: ["DRAFT"], to: ["SUBMITTED"] },
  reopen: { from: beforeReview, to: ["DRAFT"] },
  screen: { from: beforeReview, to: ["ELIGIBLE", "INELIGIBLE"] },
  advance: { from: ["SUBMITTED", "ELIGIBLE", "IN_REVIEW", "FINALIST"], to: ["IN_REVIEW"] },
  eliminate: { from: [...beforeReview, "IN_REVIEW", "FINALIST"], to: ["ELIMINATED"] },
  state: { from: SubmissionState.options, to: ["FINALIST", "WINNER"] },
  withdraw: { from: SubmissionState.options.filter((state) => state !== "WITHDRAWN"), to: ["WITHDRAWN"] },
  patch: { from: SubmissionState.options, to: ["DRAFT", "WITHDRAWN"] },
} as const satisfies Record<string, Move>;

export type SubmissionOperation = keyof typeof moves;
/** The states that an operation can lead to. */
export type Destination<O extends SubmissionOperation> = (typeof moves)[O]["to"][number];

/**
 * Checks that an operation may start from a state.
 * @throws Problem `invalid_state_transition` with the states that allow it
 */
export function checkTransition(
  operation: SubmissionOperation,
  from: SubmissionState,
  program: Pick<Program, "screeningRequired">,
): void {
  const allowedFrom = moves[operation].from.filter(
    (state) => !(operation === "advance" && state === "SUBMITTED" && program.screeningRequired),
  );
  if (!allowedFrom.includes(from)) throw problem("invalid_state_transition", { from, operation, allowedFrom });
}

/** What a submission shows once it has come to a state: the marks of states that no longer hold are taken away. */
export function stateFields(to: SubmissionState, now: string): Partial<Submission> {
  switch (to) {
    case "DRAFT":
      return {
        currentRoundId: null,
        eligible: null,
        submittedAt: null,
        screenedAt: null,
        withdrawnAt: null,
        decidedAt: null,
      };
    case "SUBMITTED":
      return { submittedAt: now };
    case "ELIGIBLE":
    case "INELIGIBLE":
      return { eligible: to === "ELIGIBLE", screenedAt: now };
    case "IN_REVIEW":
      return { decidedAt: null };
    case "ELIMINATED":
    case "FINALIST":
    case "WINNER":
      return { decidedAt: now, withdrawnAt: null };
    case "WITHDRAWN":
      return { withdrawnAt: now };
  }
}

/** States in which nobody reviews: incomplete assignments end with the arrival there. */
export function cancelsAssignments(to: SubmissionState): boolean {
  return to === "DRAFT" || to === "WITHDRAWN" || to === "ELIMINATED";
}

/** What every event about a submission carries (beside the tenant). */
export function getEventIds(submission: Submission) {
  const { programId, submissionId, trackId, currentRoundId, version } = submission;
  return { programId, submissionId, trackId, roundId: currentRoundId, version };
}

/** The value of the field whose key is `title`, if it is text. */
export function getTitle(fields: readonly FieldDefinition[], values: Readonly<Record<string, unknown>>): string | null {
  const field = fields.find((definition) => definition.key === "title");
  const value = field && Object.hasOwn(values, field.fieldId) ? values[field.fieldId] : undefined;
  return typeof value === "string" ? value : null;
}

/**
 * Checks that a track takes submissions at a time.
 * @throws Problem `intake_closed`
 */
export function checkIntake(track: Track, now: string): void {
  const { trackId, intakeOpen, intakeOpenDate, intakeCloseDate } = track;
  const opened = intakeOpenDate === null || Date.parse(intakeOpenDate) <= Date.parse(now);
  const closed = intakeCloseDate !== null && Date.parse(now) > Date.parse(intakeCloseDate);
  if (intakeOpen && opened && !closed) return;
  throw problem("intake_closed", { trackId, intakeOpen, intakeOpenDate, intakeCloseDate });
}

/** @throws Problem `deadline_passed` */
export function checkDeadline({ deadline }: Submission, now: string): void {
  if (Date.parse(now) > Date.parse(deadline)) throw problem("deadline_passed", { deadline });
}

/**
 * Checks that an application can be submitted: required fields present, values valid, the fee paid or waived.
 * Values of fields archived meanwhile do not stand in the way.
 * @throws Problem `incomplete_application` with the ids of fields, and "payment", in `missing`
 */
export function checkComplete(
  submission: Submission,
  fields: readonly FieldDefinition[],
  program: Program,
  track: Track,
): void {
  const archived = new Set(fields.filter((field) => field.archived).map((field) => field.fieldId));
  const current = Object.entries(submission.fields).filter(([fieldId]) => !archived.has(fieldId));
  const issues: Issue[] = checkValues(fields, Object.fromEntries(current), "fields");
  const missing = listMissingRequired(fields, submission.fields);
  if (computeFee(program, track) && !isSettled(submission.paymentStatus)) missing.push("payment");
  if (missing.length === 0 && issues.length === 0) return;
  throw problem("incomplete_application", { missing, ...(issues.length > 0 ? { issues } : {}) });
}
