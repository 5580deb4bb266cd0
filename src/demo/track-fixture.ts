import type { NewRow } from "../store/tables.ts";
import type { Form } from "./forms.ts";
import type { HistorySession } from "./history-session.ts";
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
  /** Whether the service chooses the reviewers of the first round. */
  readonly automatic?: boolean;
  /** The day that scenarios are counted back from. */
  readonly endsDaysAgo: number;
  nextProject(): Project;
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
  timeline.on(lifecycle.drafted, "office", async (session) => {
    await session.add("programs", { ...program, lifecycleStatus: "draft" });
    for (const { track } of fixtures) await session.add("tracks", { ...track, intakeOpen: false });
    for (const { row } of rounds) await session.add("rounds", { ...row, active: false });
  });
  const setActive = (session: HistorySession, { row }: RoundFixture, active: boolean) =>
    session.callOn("update_round", "rounds", row.roundId, { programId, trackId: row.trackId, active });
  for (const lifecycleStatus of ["configured", "underway", "completed"] as const) {
    const daysAgo = lifecycle[lifecycleStatus];
    if (daysAgo === undefined) continue;
    timeline.on(daysAgo, "office", async (session) => {
      await session.callOn("update_program", "programs", programId, { lifecycleStatus });
      const intakeOpen = lifecycleStatus === "underway";
      for (const { track } of fixtures) {
        await session.callOn("update_track", "tracks", track.trackId, { programId, intakeOpen });
      }
      if (lifecycleStatus !== "completed") return;
      for (const round of rounds) await setActive(session, round, false);
    });
  }
  for (const round of rounds) {
    if (round.opensDaysAgo !== undefined) {
      timeline.on(round.opensDaysAgo, "office", (session) => setActive(session, round, true));
    }
  }
}
