import { problem } from "../contract/errors.ts";
import type { LifecycleStatus } from "../contract/programs.ts";

const transitions: Readonly<Record<LifecycleStatus, readonly LifecycleStatus[]>> = {
  draft: ["configured", "archived"],
  configured: ["draft", "underway", "archived"],
  underway: ["configured", "completed"],
  completed: ["underway", "archived"],
  archived: ["completed"],
};

/**
 * Checks that a programme may change to a lifecycle status.
 * @throws Problem `invalid_state_transition`
 */
export function checkLifecycleTransition(from: LifecycleStatus, to: LifecycleStatus, hasSubmissions: boolean): void {
  const blocked = from === "underway" && to === "configured" && hasSubmissions;
  if (transitions[from].includes(to) && !blocked) return;
  throw problem("invalid_state_transition", {
    from,
    operation: `lifecycleStatus=${to}`,
    allowedFrom: listSourceStatuses(to),
    ...(blocked ? { because: "the programme has submissions" } : {}),
  });
}

function listSourceStatuses(to: LifecycleStatus): LifecycleStatus[] {
  return (Object.keys(transitions) as LifecycleStatus[]).filter((from) => transitions[from].includes(to));
}
