import { questionMarks } from "../../contract/definition/confirmation.ts";
import type { CallName } from "../../contract/index.ts";
import { SubmissionState } from "../../contract/submissions.ts";
import { listLifecycleSteps } from "../../domain/lifecycle.ts";
import { findStateRoute, type StateStep } from "../../domain/state-route.ts";
import { listSubmissionSteps } from "../../domain/submissions.ts";
import type { DryRunResult } from "../../upstream/port.ts";
import { describeSteps } from "../refusals/state-advice.ts";
import { formatName, quoteUntrusted } from "./preview-text.ts";

type Row = Readonly<Record<string, unknown>>;

interface StateChange {
  readonly before: Row;
  readonly after: Row;
}

/** Describes the changes of submissions and programmes: the state, what is cleared and what is replaced. */
export function describeStateChanges(dryRunResult: DryRunResult): string[] {
  return [
    ...listStateChanges(dryRunResult, "submissions", "state").flatMap(({ before, after }) => {
      const round = before["currentRoundId"] ? `, round ${formatName(dryRunResult, before["currentRoundId"])}` : "";
      const { title, submissionId, state } = before;
      return [
        `Submission ${quoteUntrusted(title)} (${submissionId}): ${state} → ${after["state"]}${round}`,
        ...listStateFields(before, after),
      ];
    }),
    ...listStateChanges(dryRunResult, "programs", "lifecycleStatus").map(
      ({ before, after }) =>
        `Programme ${quoteUntrusted(before["name"])}: ${before["lifecycleStatus"]} → ${after["lifecycleStatus"]}`,
    ),
  ];
}

function listStateChanges({ changes }: DryRunResult, table: "submissions" | "programs", field: string): StateChange[] {
  return changes.flatMap(({ table: changed, before, after }) =>
    changed === table && before && after && before[field as never] !== after[field as never] ? [{ before, after }] : [],
  );
}

/** Describes the fields that change together with a state. */
function listStateFields(before: Row, after: Row): string[] {
  const isChanged = (name: string) => (before[name] ?? null) !== (after[name] ?? null);
  const dates = Object.keys(after).filter((name) => name.endsWith("At") && name !== "updatedAt");
  const names = ["currentRoundId", "eligible", "stateReason", ...dates].filter(isChanged);
  const cleared = names.filter((name) => after[name] === null);
  const dated = names.filter((name) => name.endsWith("At") && after[name] !== null);
  const replacesReason =
    Boolean(before["stateReason"]) && names.includes("stateReason") && after["stateReason"] !== null;
  return [
    ...(cleared.length > 0 ? [`${questionMarks.cleared}${cleared.join(", ")}`] : []),
    ...(dated.length > 0 ? [`${questionMarks.dated}${dated.join(", ")}`] : []),
    ...(replacesReason ? [`${questionMarks.replaced}the reason for ${before["state"]}`] : []),
  ];
}

const { irrevocable, wayBack } = questionMarks;
const deletion = `${wayBack}delete_assignment, for each assignment`;

/** The call that undoes one of an operation without a state machine. */
const waysBack: Partial<Record<CallName, string>> = {
  merge_person: irrevocable,
  release_feedback: irrevocable,
  send_bulk_email: irrevocable,
  invite_reviewer: `${irrevocable}: no tool removes a reviewer`,
  remove_person_external_ref: `${wayBack}add_person_external_ref`,
  delete_assignment: `${wayBack}bulk_assign_reviewers assigns again, but lost reviews do not return`,
  reassign_assignment: `${wayBack}reassign_assignment to the former reviewer, but lost reviews do not return`,
  bulk_assign_reviewers: deletion,
  auto_assign_reviewers: deletion,
  create_export: "This changes no other record",
};

/** Describes the tools that undo a call, or says that there are none. */
export function describeWayBack(operation: CallName, dryRunResult: DryRunResult): string[] {
  const way = waysBack[operation];
  if (way !== undefined) return [way];
  const endsReviews = dryRunResult.changes.some(({ table }) => table === "assignments");
  return [
    ...listStateChanges(dryRunResult, "submissions", "state")
      .filter(({ before }) => SubmissionState.safeParse(before["state"]).success)
      .map((change) =>
        findRouteBack(change, "state", (from) => listSubmissionSteps(from, { screeningRequired: false })),
      ),
    ...listStateChanges(dryRunResult, "programs", "lifecycleStatus").map((change) =>
      findRouteBack(change, "lifecycleStatus", (from) => listLifecycleSteps(from, true)),
    ),
  ].map((route) => {
    if (route === undefined) return irrevocable;
    return `${wayBack}${describeSteps(route)}${endsReviews ? ". The ended assignments do not return" : ""}`;
  });
}

/** Returns the steps back to the state before, with only those cleared fields that have a value after the change. */
function findRouteBack(
  { before, after }: StateChange,
  field: string,
  listSteps: (from: string) => readonly StateStep[],
) {
  const isSet = (name: string) => (after[name] ?? null) !== null;
  const route = findStateRoute(listSteps, String(after[field]), String(before[field]));
  return route?.map((step) => ({ ...step, clears: step.clears.filter(isSet) }));
}
