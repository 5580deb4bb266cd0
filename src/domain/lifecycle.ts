import { problem } from "../contract/errors.ts";
import type { LifecycleStatus } from "../contract/programs.ts";
import type { StateStep } from "./state-route.ts";

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
  const blocked = isBlocked(from, to, hasSubmissions);
  if (transitions[from].includes(to) && !blocked) return;
  throw problem("invalid_state_transition", {
    from,
    operation: `lifecycleStatus=${to}`,
    allowedFrom: listSourceStatuses(to),
    ...(blocked ? { because: "the programme has submissions" } : {}),
  });
}

/** Lists the changes of lifecycle status that are possible from a status. */
export function listLifecycleSteps(from: string, hasSubmissions: boolean): StateStep[] {
  const destinations = Object.hasOwn(transitions, from) ? transitions[from as LifecycleStatus] : [];
  return destinations
    .filter((to) => !isBlocked(from, to, hasSubmissions))
    .map((to) => ({
      tool: "update_program",
      to,
      argument: `lifecycleStatus ${to}`,
      clears: [],
      endsAssignments: false,
    }));
}

function isBlocked(from: string, to: string, hasSubmissions: boolean): boolean {
  return from === "underway" && to === "configured" && hasSubmissions;
}

function listSourceStatuses(to: LifecycleStatus): LifecycleStatus[] {
  return (Object.keys(transitions) as LifecycleStatus[]).filter((from) => transitions[from].includes(to));
}
