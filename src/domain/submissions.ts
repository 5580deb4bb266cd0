import { type Issue, type Problem, problem } from "../contract/errors.ts";
import type { OperationName } from "../contract/index.ts";
import type { Program, Track } from "../contract/programs.ts";
import { type Submission, SubmissionState } from "../contract/submissions.ts";
import { toTextOrNull } from "../lib/json-value.ts";
import { checkValues, type FieldDefinition, listMissingRequired } from "./fields.ts";
import { computeFee, isSettled } from "./payments.ts";
import type { StateStep } from "./state-route.ts";

interface Transition {
  readonly tool: OperationName;
  readonly from: readonly SubmissionState[];
  readonly to: readonly SubmissionState[];
  /** The argument that chooses between several destinations. */
  readonly argument?: string;
  /** The conditions of the operation apart from the state. */
  readonly needs?: string;
}

const beforeReview = ["SUBMITTED", "ELIGIBLE", "INELIGIBLE"] as const;

/**
 * The submission's state machine: for each operation, the states it may start from and lead to. `patch` is a PATCH with
 * `state`.
 */
const transitions = {
  edit: { tool: "update_submission_fields", from: ["DRAFT"], to: ["DRAFT"] },
  submit: {
    tool: "submit_submission",
    from: ["DRAFT"],
    to: ["SUBMITTED"],
    needs: "an open intake and a complete application",
  },
  reopen: { tool: "reopen_submission", from: beforeReview, to: ["DRAFT"] },
  screen: { tool: "screen_submission", from: beforeReview, to: ["ELIGIBLE", "INELIGIBLE"], argument: "eligible" },
  advance: {
    tool: "advance_submission",
    from: ["SUBMITTED", "ELIGIBLE", "IN_REVIEW", "FINALIST"],
    to: ["IN_REVIEW"],
    needs: "an active round later than its present one",
  },
  eliminate: { tool: "eliminate_submission", from: [...beforeReview, "IN_REVIEW", "FINALIST"], to: ["ELIMINATED"] },
  state: {
    tool: "set_submission_state",
    from: SubmissionState.options,
    to: ["FINALIST", "WINNER"],
    argument: "state",
  },
  withdraw: {
    tool: "withdraw_submission",
    from: SubmissionState.options.filter((state) => state !== "WITHDRAWN"),
    to: ["WITHDRAWN"],
  },
  patch: { tool: "update_submission", from: SubmissionState.options, to: ["DRAFT", "WITHDRAWN"], argument: "state" },
} as const satisfies Record<string, Transition>;

export type SubmissionOperation = keyof typeof transitions;
export type Destination<O extends SubmissionOperation> = (typeof transitions)[O]["to"][number];

/**
 * Checks that a state allows an operation.
 * @throws Problem `invalid_state_transition` with the states that allow it
 */
export function checkTransition(
  operation: SubmissionOperation,
  from: SubmissionState,
  program: Pick<Program, "screeningRequired">,
): void {
  const allowedFrom = listSourceStates(operation, program);
  if (!allowedFrom.includes(from)) throw problem("invalid_state_transition", { from, operation, allowedFrom });
}

function listSourceStates(
  operation: SubmissionOperation,
  { screeningRequired }: Pick<Program, "screeningRequired">,
): SubmissionState[] {
  return transitions[operation].from.filter(
    (state) => !(operation === "advance" && state === "SUBMITTED" && screeningRequired),
  );
}

/** Lists the changes of state that are possible from a state, in the order of the state machine. */
export function listSubmissionSteps(from: string, program: Pick<Program, "screeningRequired">): StateStep[] {
  const operations = (Object.keys(transitions) as SubmissionOperation[]).filter((operation) =>
    listSourceStates(operation, program).some((state) => state === from),
  );
  return operations.flatMap((operation) => {
    const { tool, to: destinations, argument, needs }: Transition = transitions[operation];
    // Setting the state that a submission has is refused, or changes nothing.
    const reached = argument === "state" ? destinations.filter((to) => to !== from) : destinations;
    return reached.map((to) => ({
      tool,
      to,
      argument: argument && `${argument} ${argument === "eligible" ? to === "ELIGIBLE" : to}`,
      needs,
      clears: listClearedFields(to),
      endsAssignments: endsReviewing(to),
    }));
  });
}

/** Lists the fields that become null in a state. */
function listClearedFields(to: SubmissionState): string[] {
  const fields = Object.entries(createStateFields(to, ""));
  return fields.filter(([, value]) => value === null).map(([name]) => name);
}

/**
 * Returns the fields that change together with the state. Dates and results of states that no longer apply become null.
 */
export function createStateFields(to: SubmissionState, now: string): Partial<Submission> {
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

/** Returns whether a state ends reviewing: incomplete assignments are cancelled then. */
export function endsReviewing(to: SubmissionState): boolean {
  return to === "DRAFT" || to === "WITHDRAWN" || to === "ELIMINATED";
}

/** Returns the ids that every event about a submission contains, apart from the tenant's. */
export function getEventIds(submission: Submission) {
  const { programId, submissionId, trackId, currentRoundId, version } = submission;
  return { programId, submissionId, trackId, roundId: currentRoundId, version };
}

/** Returns the value of the field with the key `title`, or null if it is not text. */
export function getTitle(fields: readonly FieldDefinition[], values: Readonly<Record<string, unknown>>): string | null {
  const field = fields.find((definition) => definition.key === "title");
  return toTextOrNull(field && Object.hasOwn(values, field.fieldId) ? values[field.fieldId] : undefined);
}

/**
 * Checks that a track accepts submissions at a time.
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
 * Checks that an application can be submitted: required fields are present, values are valid, and the fee is paid or
 * waived. Values of archived fields are not checked.
 * @throws Problem `incomplete_application` with ids of fields, and "payment", in `missing`, and labels in the message
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
  throw createIncompleteProblem(fields, missing, issues);
}

/** Most missing fields that a message names. */
const maxNamed = 20;

/** Creates an `incomplete_application`, whose message has the labels of the missing fields as people see them. */
export function createIncompleteProblem(
  fields: readonly Pick<FieldDefinition, "fieldId" | "label">[],
  missing: readonly string[],
  issues: readonly Issue[] = [],
): Problem {
  const labels = new Map(fields.map(({ fieldId, label }) => [fieldId, `“${label}” (${fieldId})`]));
  const names = missing.slice(0, maxNamed).map((id) => labels.get(id) ?? id);
  const rest = missing.length > maxNamed ? [`${missing.length - maxNamed} more`] : [];
  const message =
    missing.length > 0 ? `The application is not complete. Missing: ${[...names, ...rest].join(", ")}.` : undefined;
  return problem("incomplete_application", { missing, ...(issues.length > 0 ? { issues } : {}) }, message);
}
