import { problem } from "../contract/errors.ts";
import { type SupplementResponse, SupplementStatus } from "../contract/supplements.ts";

const open = SupplementStatus.options.filter((status) => status !== "closed");

/** Statuses from which each operation on a supplement response is allowed; a PATCH of `status` may start from any. */
const moves = {
  edit: open,
  close: open,
  reopen: ["closed"],
  submit: ["not_started", "draft"],
} as const satisfies Record<string, readonly SupplementStatus[]>;

/**
 * Checks that an operation may start from a status.
 * @throws Problem `invalid_state_transition` with the statuses that allow it
 */
export function checkSupplementMove(operation: keyof typeof moves, from: SupplementStatus): void {
  const allowedFrom: readonly SupplementStatus[] = moves[operation];
  if (!allowedFrom.includes(from)) throw problem("invalid_state_transition", { from, operation, allowedFrom });
}

/** What a change of status sets beside it; nothing where the status stays. */
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

/** The ids of required supplements that nobody submitted or closed. */
export function listOutstanding(supplements: readonly SupplementResponse[]): string[] {
  return supplements
    .filter(({ required, status }) => required && status !== "submitted" && status !== "closed")
    .map(({ supplementResponseId }) => supplementResponseId);
}
