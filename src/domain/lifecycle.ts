import { problem } from "../contract/errors.ts";
import type { LifecycleStatus } from "../contract/programs.ts";

const moves: Readonly<Record<LifecycleStatus, readonly LifecycleStatus[]>> = {
  draft: ["configured", "archived"],
  configured: ["draft", "underway", "archived"],
  underway: ["configured", "completed"],
  completed: ["underway", "archived"],
  archived: ["completed"],
};

/**
 * Checks a programme's move to another lifecycle status.
 * @throws Problem `invalid_state_transition`
 */
export function checkLifecycleMove(from: LifecycleStatus, to: LifecycleStatus, hasSubmissions: boolean): void {
  const blocked = from === "underway" && to === "configured" && hasSubmissions;
  if (moves[from].includes(to) && !blocked) return;
  throw problem("invalid_state_transition", {
    from,
    operation: `lifecycleStatus=${to}`,
    allowedFrom: listStatusesLeadingTo(to),
    ...(blocked ? { because: "the programme has submissions" } : {}),
  });
}

function listStatusesLeadingTo(to: LifecycleStatus): LifecycleStatus[] {
  return (Object.keys(moves) as LifecycleStatus[]).filter((from) => moves[from].includes(to));
}
