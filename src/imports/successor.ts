import type { ProgramConfig } from "../contract/set-up/program-config.ts";

/** The settings that a new programme does not take over from an earlier one. */
export interface SuccessorSettings {
  readonly name: string;
  readonly year: number;
  /** The day, as `YYYY-MM-DD`, to which the earlier programme's opening day moves. All dates move by as much. */
  readonly opensOn: string;
}

const dayMs = 24 * 60 * 60 * 1000;

/**
 * Returns the set-up of a new programme like an earlier one. It is a draft without reviewers. Its intake is closed, and
 * has an opening day in every track.
 */
export function createSuccessor(config: ProgramConfig, { name, year, opensOn }: SuccessorSettings): ProgramConfig {
  const opening = findOpening(config);
  const shiftMs = opening === undefined ? 0 : Date.parse(opensOn) - Math.floor(Date.parse(opening) / dayMs) * dayMs;
  const shift = <Name extends string>(part: { readonly [N in Name]?: string | null | undefined }, ...names: Name[]) =>
    Object.fromEntries(names.flatMap((each) => (part[each] ? [[each, shiftTime(part[each], shiftMs)]] : []))) as {
      [N in Name]?: string;
    };
  return {
    ...config,
    program: {
      ...config.program,
      ...shift(config.program, "startDate", "endDate"),
      name,
      year,
      lifecycleStatus: "draft",
    },
    tracks: config.tracks.map((track) => {
      const intake = shift(track, "intakeOpenDate", "intakeCloseDate");
      const opens = `${opensOn}T00:00:00.000Z`;
      const closesBefore = intake.intakeCloseDate !== undefined && intake.intakeCloseDate < opens;
      return {
        ...track,
        ...(closesBefore ? {} : { intakeOpenDate: opens }),
        ...intake,
        intakeOpen: false,
        rounds: track.rounds.map((round) => ({
          ...round,
          ...shift(round, "startDate", "endDate", "deadline"),
          active: false,
        })),
      };
    }),
    reviewers: [],
  };
}

/** Returns when applications open: the first opening of an intake, or else the programme's start, or its first date. */
function findOpening({ program, tracks }: ProgramConfig): string | undefined {
  const openings = tracks.flatMap(({ intakeOpenDate }) => intakeOpenDate ?? []);
  const others = [
    program.endDate,
    ...tracks.map(({ intakeCloseDate }) => intakeCloseDate),
    ...tracks.flatMap(({ rounds }) => rounds.flatMap((round) => [round.startDate, round.endDate, round.deadline])),
  ].flatMap((time) => time ?? []);
  return openings.toSorted()[0] ?? program.startDate ?? others.toSorted()[0];
}

function shiftTime(time: string, shiftMs: number): string {
  return new Date(Date.parse(time) + shiftMs).toISOString();
}
