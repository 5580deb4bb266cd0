import type { Course, CourseRound, SupplementRequest } from "./course.ts";
import type { Journey, Outcome } from "./journeys.ts";
import type { KnownApplicant } from "./people.ts";
import type { Project } from "./projects.ts";
import type { Member } from "./reviewers.ts";

/** One submission on its way. */
export interface Copy {
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
export interface Seat {
  /** Of the round, from 0. */
  readonly index: number;
  readonly round: CourseRound;
  readonly member: Member;
  readonly outcome: Outcome;
  readonly assignmentIds: string[];
}

/** Submissions that take the same journey on the same days, about similar projects in different places. */
export interface Batch {
  readonly course: Course;
  readonly journey: Journey;
  /** Which of the submissions on this journey it is: alternatives take turns by it. */
  readonly variant: number;
  readonly size: number;
  readonly project: Project;
  readonly source: "portal" | "integration";
  readonly copies: Copy[];
  readonly seats: Seat[];
}

/** The alternative whose turn it is. */
export function turn<T>(alternatives: readonly T[] | undefined, { variant }: Batch): T | undefined {
  return alternatives?.[variant % alternatives.length];
}
