import type { Project } from "./projects.ts";
import type { Scenario, ScriptedOutcome } from "./scenarios.ts";
import type { TrackFixture } from "./track-fixture.ts";

/** An assignment with what its reviewer is going to do. */
export interface PlannedAssignment {
  readonly assignmentId: string;
  readonly reviewerId: string;
  /** Index of the round, from 0. */
  readonly round: number;
  readonly outcome: ScriptedOutcome;
}

/** A submission and the scenario that it follows. The ids are there once the records are. */
export interface SubmissionPlan {
  readonly fixture: TrackFixture;
  readonly scenario: Scenario;
  /** Number of the submission within its scenario: alternatives take turns by it. */
  readonly variant: number;
  readonly source: "portal" | "integration";
  readonly project: Project;
  /** Quality of the application, from 0 to 1. */
  readonly merit: number;
  submissionId: string;
  feedbackId?: string;
  readonly assignments: PlannedAssignment[];
}

/** Returns the alternative whose turn it is. */
export function pickAlternative<T>(alternatives: readonly T[] | undefined, { variant }: SubmissionPlan): T | undefined {
  return alternatives?.[variant % alternatives.length];
}
