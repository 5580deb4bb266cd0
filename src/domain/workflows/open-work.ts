import type { Round, Track } from "../../contract/programs.ts";
import type { Submission } from "../../contract/submissions.ts";

type DatedTrack = Pick<Track, "trackId" | "intakeOpen" | "intakeOpenDate" | "intakeCloseDate">;
type DatedRound = Pick<Round, "roundId" | "trackId" | "sequence" | "startDate" | "endDate" | "deadline">;

export interface DateConflict {
  readonly trackId: string;
  readonly roundId?: string;
  readonly detail: string;
}

/** Finds dates of tracks and rounds that contradict each other, or an intake that is open past its end. */
export function findDateConflicts(
  tracks: readonly DatedTrack[],
  rounds: readonly DatedRound[],
  nowMs: number,
): DateConflict[] {
  const trackById = new Map(tracks.map((track) => [track.trackId, track]));
  const ofTracks = tracks.flatMap(({ trackId, intakeOpen, intakeOpenDate, intakeCloseDate }) => [
    ...describeOrder(intakeOpenDate, intakeCloseDate, "the intake closes before it opens").map((detail) => ({
      trackId,
      detail,
    })),
    ...(intakeOpen && intakeCloseDate !== null && Date.parse(intakeCloseDate) < nowMs
      ? [{ trackId, detail: "the intake is open after its closing date" }]
      : []),
  ]);
  const byTrack = Map.groupBy(rounds, ({ trackId }) => trackId);
  const ofRounds = [...byTrack].flatMap(([trackId, own]) => {
    const sorted = own.toSorted((a, b) => a.sequence - b.sequence);
    return sorted.flatMap((round, index) => {
      const { roundId, startDate, endDate, deadline } = round;
      const previous = sorted[index - 1];
      const intakeCloseDate = index === 0 ? (trackById.get(trackId)?.intakeCloseDate ?? null) : null;
      return [
        ...describeOrder(startDate, endDate, "the round ends before it starts"),
        ...describeOrder(startDate, deadline, "the deadline is before the round's start"),
        ...describeOrder(deadline, endDate, "the deadline is after the round's end"),
        ...describeOrder(intakeCloseDate, startDate, "the round starts before the intake closes"),
        ...describeOrder(previous?.deadline ?? null, startDate, "the round starts before the previous one's deadline"),
      ].map((detail) => ({ trackId, roundId, detail }));
    });
  });
  return [...ofTracks, ...ofRounds];
}

/** Returns the detail if the first date is after the second. */
function describeOrder(first: string | null, second: string | null, detail: string): string[] {
  return first !== null && second !== null && Date.parse(first) > Date.parse(second) ? [detail] : [];
}

type ReviewedSubmission = Pick<Submission, "submissionId" | "state" | "currentRoundId" | "submittedAt" | "decidedAt">;

/** The step that a submission waits for, and since when. */
export interface SubmissionWork {
  readonly kind: "unscreened" | "not_in_round" | "unassigned" | "feedback_not_released";
  readonly since: string | null;
  readonly detail?: string;
}

interface ReviewState {
  readonly screeningRequired: boolean;
  readonly requiredReviews: number;
  /** Active reviews of the submission in its round, without conflicts; undefined if not known. */
  readonly reviewers: number | undefined;
  /** True if there is feedback, released or not; undefined if not known. */
  readonly hasFeedback: boolean | undefined;
}

type FindWork = (submission: ReviewedSubmission, review: ReviewState) => SubmissionWork | undefined;

const findMissingFeedback: FindWork = ({ decidedAt }, { hasFeedback }) =>
  hasFeedback === false
    ? { kind: "feedback_not_released", since: decidedAt, detail: "no feedback is known" }
    : undefined;

const workOfStates: Partial<Record<Submission["state"], FindWork>> = {
  SUBMITTED: ({ submittedAt }, { screeningRequired }) => ({
    kind: screeningRequired ? "unscreened" : "not_in_round",
    since: submittedAt,
  }),
  ELIGIBLE: ({ submittedAt }) => ({ kind: "not_in_round", since: submittedAt }),
  IN_REVIEW: ({ submittedAt }, { reviewers, requiredReviews }) =>
    reviewers === undefined || reviewers >= requiredReviews
      ? undefined
      : { kind: "unassigned", since: submittedAt, detail: `${reviewers} of ${requiredReviews} reviewers` },
  ELIMINATED: findMissingFeedback,
  FINALIST: findMissingFeedback,
  WINNER: findMissingFeedback,
};

/** The states in which a submission may wait for something that staff does, in the order of its way through them. */
export const waitingStates = Object.keys(workOfStates) as Submission["state"][];

/** Finds what a submission waits for that staff does. */
export function findSubmissionWork(submission: ReviewedSubmission, review: ReviewState): SubmissionWork | undefined {
  return workOfStates[submission.state]?.(submission, review);
}
