import { computeFee } from "../domain/payments.ts";
import type { NewRow } from "../store/tables.ts";
import type { Form } from "./forms.ts";
import type { Project } from "./projects.ts";
import type { RubricWithRemarks } from "./rubrics.ts";
import type { Timeline } from "./timeline.ts";

/** A round and when it opens. */
export interface RoundFixture {
  readonly row: NewRow<"rounds">;
  readonly rubric: RubricWithRemarks;
  /** Never: it is still to come. */
  readonly opensDaysAgo?: number;
}

export interface SupplementRequest {
  readonly supplementRequestId: string;
  readonly title: string;
  readonly required: boolean;
  readonly audience: "applicant" | "contributor";
  readonly form: Form;
  /** What is usually stated. */
  readonly statements: readonly string[];
}

/** A track with all that its submissions need to know. */
export interface TrackFixture {
  readonly program: NewRow<"programs">;
  readonly track: NewRow<"tracks">;
  readonly form: Form;
  readonly rounds: readonly RoundFixture[];
  readonly supplements: readonly SupplementRequest[];
  readonly deadline: string;
  /** The day that journeys are counted back from. */
  readonly endsDaysAgo: number;
  nextProject(): Project;
}

export function computeTrackFee({ program, track }: TrackFixture) {
  return computeFee(program, track);
}

/** When a programme came to each status that it has had so far; counted in days ago. */
export interface ProgramLifecycle {
  readonly drafted: number;
  readonly configured?: number;
  readonly underway?: number;
  readonly completed?: number;
}

/** Plans a programme's own past: it is drafted with tracks and closed rounds, then opened step by step. */
export function planProgram(
  timeline: Timeline,
  fixtures: readonly [TrackFixture, ...TrackFixture[]],
  lifecycle: ProgramLifecycle,
): void {
  const [{ program }] = fixtures;
  const { programId } = program;
  const rounds = fixtures.flatMap((fixture) => fixture.rounds);
  timeline.on(lifecycle.drafted, "office", async (history) => {
    await history.add("programs", { ...program, lifecycleStatus: "draft" });
    for (const { track } of fixtures) await history.add("tracks", { ...track, intakeOpen: false });
    for (const { row } of rounds) await history.add("rounds", { ...row, active: false });
  });
  for (const status of ["configured", "underway", "completed"] as const) {
    const daysAgo = lifecycle[status];
    if (daysAgo === undefined) continue;
    timeline.on(daysAgo, "office", async (history) => {
      await history.change("programs", programId, { lifecycleStatus: status });
      const intakeOpen = status === "underway";
      for (const { track } of fixtures) await history.change("tracks", track.trackId, { intakeOpen });
      if (status !== "completed") return;
      for (const { row } of rounds) await history.change("rounds", row.roundId, { active: false });
    });
  }
  for (const { row, opensDaysAgo } of rounds) {
    if (opensDaysAgo === undefined) continue;
    timeline.on(
      opensDaysAgo,
      "office",
      async (history) => void (await history.change("rounds", row.roundId, { active: true })),
    );
  }
}
