import type { CallName } from "../../contract/index.ts";
import { listLifecycleSteps } from "../../domain/lifecycle.ts";
import { findStateRoute, type StateStep } from "../../domain/state-route.ts";
import { listSubmissionSteps } from "../../domain/submissions.ts";
import { listSupplementSteps } from "../../domain/supplements.ts";

type Values = Readonly<Record<string, unknown>>;

/** The state that a refused call needs or leads to. */
interface Target {
  readonly state: string;
  readonly listSteps: (from: string, details: Values) => readonly StateStep[];
  /** The call is possible in the state, and does not lead to it. */
  readonly repeats?: boolean;
}

const submission = (state: string, repeats = false): Target => ({ state, listSteps: listStepsOfSubmission, repeats });

/** The targets of the calls whose record has a state machine. */
const targets: Partial<Record<CallName, (input: Values) => Target>> = {
  update_submission_fields: () => submission("DRAFT", true),
  update_submission: ({ state }) => submission(String(state ?? "DRAFT"), state === undefined),
  submit_submission: () => submission("SUBMITTED"),
  reopen_submission: () => submission("DRAFT"),
  screen_submission: ({ eligible }) => submission(eligible === true ? "ELIGIBLE" : "INELIGIBLE"),
  advance_submission: () => submission("IN_REVIEW"),
  eliminate_submission: () => submission("ELIMINATED"),
  set_submission_state: ({ state }) => submission(String(state)),
  withdraw_submission: () => submission("WITHDRAWN"),
  bulk_assign_reviewers: () => submission("IN_REVIEW", true),
  update_program: ({ lifecycleStatus }) => ({
    state: String(lifecycleStatus),
    // Archiving ends a programme. It never leads to another status.
    listSteps: (from, { because }) =>
      listLifecycleSteps(from, because !== undefined).filter(
        ({ to }) => to !== "archived" || lifecycleStatus === "archived",
      ),
  }),
  update_supplement: () => ({ state: "draft", listSteps: listSupplementSteps, repeats: true }),
  close_supplement: () => ({ state: "closed", listSteps: listSupplementSteps }),
  reopen_supplement: () => ({ state: "draft", listSteps: listSupplementSteps }),
};

/**
 * Describes the tools that lead from a record's state to the one that a refused call needs or wants, and what they
 * clear. Returns `undefined` if the record has no state machine or its state is not known.
 * @param details - the details of an `invalid_state_transition`
 */
export function describeStateRoute(name: CallName, input: Values, details: Values): string | undefined {
  const target = targets[name]?.(input);
  const { from } = details;
  if (!target || typeof from !== "string") return undefined;
  const { state, listSteps, repeats } = target;
  const route = findStateRoute((at) => listSteps(at, details), from, state);
  if (!route) return `It is ${from}. No tool leads from there to ${state}${formatReason(details)}.`;
  if (route.length === 0) return `It is ${state} already${formatReason(details)}.`;
  return `It is ${from}. To make it ${state}: ${describeSteps(route)}${repeats ? "; then this call again" : ""}. Read it again, and ask your human first.`;
}

/** Describes steps in their order: the tool of each with its argument, what it needs and what it clears. */
export function describeSteps(route: readonly StateStep[]): string {
  return route.map(describeStep).join("; then ");
}

function describeStep({ tool, argument, needs, clears, endsAssignments }: StateStep): string {
  const effects = [
    ...(needs ? [`needs ${needs}`] : []),
    ...(clears.length > 0 ? [`clears ${clears.join(", ")}`] : []),
    ...(endsAssignments ? ["ends open review assignments"] : []),
  ];
  return `${tool}${argument ? ` with ${argument}` : ""}${effects.length > 0 ? ` (${effects.join("; ")})` : ""}`;
}

function formatReason({ because }: Values): string {
  return typeof because === "string" ? `: ${because}` : "";
}

function listStepsOfSubmission(from: string, { allowedFrom, operation }: Values): readonly StateStep[] {
  // A service that requires screening leaves SUBMITTED out of the states that allow an advance.
  const screeningRequired = operation === "advance" && Array.isArray(allowedFrom) && !allowedFrom.includes("SUBMITTED");
  return listSubmissionSteps(from, { screeningRequired });
}
