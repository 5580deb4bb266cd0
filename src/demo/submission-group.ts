import type { KnownApplicant } from "./people.ts";
import type { Project } from "./projects.ts";
import type { Member } from "./reviewers.ts";
import type { Scenario, ScriptedOutcome } from "./scenarios.ts";
import type { RoundFixture, SupplementRequest, TrackFixture } from "./track-fixture.ts";

/** One submission on its way. */
export interface GroupSubmission {
  readonly submissionId: string;
  readonly applicant: KnownApplicant;
  readonly title: string | null;
  /** From 0 to 1. */
  readonly merit: number;
  readonly paymentId: string | undefined;
  readonly supplements: readonly { readonly request: SupplementRequest; readonly supplementResponseId: string }[];
  feedbackId?: string;
}

/** A reviewer's place at a batch in one round, with an assignment for each submission in its order. */
export interface ReviewerSeat {
  /** Of the round, from 0. */
  readonly index: number;
  readonly round: RoundFixture;
  readonly member: Member;
  readonly outcome: ScriptedOutcome;
  readonly assignmentIds: string[];
}

/** Submissions that take the same journey on the same days, about similar projects in different places. */
export interface SubmissionGroup {
  readonly fixture: TrackFixture;
  readonly scenario: Scenario;
  /** Which of the submissions on this journey it is: alternatives take turns by it. */
  readonly variant: number;
  readonly size: number;
  readonly project: Project;
  readonly source: "portal" | "integration";
  readonly copies: GroupSubmission[];
  readonly seats: ReviewerSeat[];
}

/** The alternative whose turn it is. */
export function pickAlternative<T>(
  alternatives: readonly T[] | undefined,
  { variant }: SubmissionGroup,
): T | undefined {
  return alternatives?.[variant % alternatives.length];
}
