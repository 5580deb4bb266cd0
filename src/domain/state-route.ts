import type { OperationName } from "../contract/index.ts";

/** A change of a record's state, and the tool that makes it. */
export interface StateStep {
  readonly tool: OperationName;
  readonly to: string;
  /** The argument that names the new state, with its value, if the tool leads to several. */
  readonly argument?: string | undefined;
  /** The conditions of the tool apart from the state. */
  readonly needs?: string | undefined;
  /** Fields that become null. */
  readonly clears: readonly string[];
  /** True if open review assignments end. */
  readonly endsAssignments: boolean;
}

/**
 * Finds the fewest steps from one state to another. Of several ways, it takes the one whose steps are listed first.
 * @returns `undefined` if there is no way
 */
export function findStateRoute(
  listSteps: (from: string) => readonly StateStep[],
  from: string,
  to: string,
): readonly StateStep[] | undefined {
  const seen = new Set([from]);
  let routes: readonly (readonly StateStep[])[] = [[]];
  while (routes.length > 0) {
    const longer: (readonly StateStep[])[] = [];
    for (const route of routes) {
      const state = route.at(-1)?.to ?? from;
      if (state === to) return route;
      for (const step of listSteps(state).filter((next) => !seen.has(next.to))) {
        seen.add(step.to);
        longer.push([...route, step]);
      }
    }
    routes = longer;
  }
  return undefined;
}
