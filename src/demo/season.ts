import plans from "./data/plans.json" with { type: "json" };
import type { RandomPicker } from "./random-picker.ts";
import type { ScenarioCounts, ScenarioName } from "./scenarios.ts";
import type { TenantPlan } from "./tenant-plan.ts";

export interface SeasonSize {
  readonly applicants: number;
  readonly reviewers: number;
}

/** Days from the opening of a season to its end. */
export const seasonDays = 70;

/** One in so many reviewers never answers. */
const silentEvery = 10;

/** Plans a season of two tracks, which opens today and ends with its awards. */
export function createSeasonPlan({ applicants, reviewers }: SeasonSize, picker: RandomPicker): TenantPlan {
  const season = plans.season as unknown as TenantPlan;
  const [program] = season.programs as [TenantPlan["programs"][number]];
  const shares = [Math.ceil(applicants / 2), Math.floor(applicants / 2)];
  const tracks = program.tracks.map((track, index) => ({
    ...track,
    submissions: addScenarios(track.submissions, shares[index] ?? 0, picker),
  }));
  const silent = Math.floor(reviewers / silentEvery);
  const invitation = { invited: -1, tracks: tracks.map(({ key }) => key) };
  const active = { ...invitation, status: "active", count: reviewers - silent } as const;
  const invitations = [active, { ...invitation, status: "invited", count: silent } as const];
  return { ...season, programs: [{ ...program, tracks }], invitations };
}

/** Adds scenarios by chance until there is one for each applicant. */
function addScenarios(given: ScenarioCounts, applicants: number, picker: RandomPicker): ScenarioCounts {
  const counts = { ...given };
  const count = Object.values(counts).reduce((sum, each) => sum + each, 0);
  for (let more = count; more < applicants; more++) {
    const name = picker.pick(plans.season.others) as ScenarioName;
    counts[name] = (counts[name] ?? 0) + 1;
  }
  return counts;
}
