import { problem } from "../contract/errors.ts";
import { type SupplementResponse, SupplementStatus } from "../contract/supplements.ts";
import type { StateStep } from "./state-route.ts";

const open = SupplementStatus.options.filter((status) => status !== "closed");

/** Lists the changes of status that open or close a response in a status. */
export function listSupplementSteps(from: string): StateStep[] {
  const unchanged = { clears: [], endsAssignments: false };
  if (from === "closed") return [{ tool: "reopen_supplement", to: "draft", ...unchanged }];
  return [{ tool: "close_supplement", to: "closed", ...unchanged }];
}

/** Statuses that allow each operation on a supplement response. A PATCH of `status` may start from any. */
const allowedStatuses = {
  edit: open,
  close: open,
  reopen: ["closed"],
  submit: ["not_started", "draft"],
} as const satisfies Record<string, readonly SupplementStatus[]>;

/**
 * Checks that a status allows an operation.
 * @throws Problem `invalid_state_transition` with the statuses that allow it
 */
export function checkSupplementTransition(operation: keyof typeof allowedStatuses, from: SupplementStatus): void {
  const allowedFrom: readonly SupplementStatus[] = allowedStatuses[operation];
  if (!allowedFrom.includes(from)) throw problem("invalid_state_transition", { from, operation, allowedFrom });
}

/** Returns the fields that change together with the status; none if the status stays. */
export function createSupplementStateFields(
  from: SupplementStatus,
  to: SupplementStatus,
  now: string,
): Partial<SupplementResponse> {
  if (from === to) return {};
  return {
    status: to,
    ...(to === "submitted" ? { submittedAt: now } : {}),
    ...(to === "draft" || to === "not_started" ? { submittedAt: null } : {}),
    closedAt: to === "closed" ? now : null,
    ...(from === "closed" ? { reopenedAt: now } : {}),
  };
}

/** Returns the ids of required supplements that are neither submitted nor closed. */
export function listOutstanding(
  supplements: readonly Pick<SupplementResponse, "supplementResponseId" | "required" | "status">[],
): string[] {
  return supplements
    .filter(({ required, status }) => required && status !== "submitted" && status !== "closed")
    .map(({ supplementResponseId }) => supplementResponseId);
}
