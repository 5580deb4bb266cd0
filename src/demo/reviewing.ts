import type { Assignment, AssignmentStatus } from "../contract/assignments.ts";
import type { Review } from "../contract/reviews.ts";
import type { Criterion } from "../contract/schemas.ts";
import { incompleteStatuses, toEndedAssignment } from "../domain/assignments.ts";
import { scoreReview } from "../domain/scoring.ts";
import type { Patch } from "../store/tables.ts";
import { confidentialComments, overallComments } from "./comments.ts";
import type { Mail } from "./mail.ts";
import type { RandomPicker } from "./random-picker.ts";
import { unread } from "./record-factory.ts";
import type { Member, Panel } from "./reviewers.ts";
import type { ScriptedOutcome } from "./scenarios.ts";
import type { GroupSubmission, ReviewerSeat, SubmissionGroup } from "./submission-group.ts";
import { conflictStatements, declineReasons, noConflictStatement, reassignReasons } from "./texts.ts";
import type { HistoryTransaction } from "./timeline.ts";
import type { RoundFixture } from "./track-fixture.ts";

const open: ReadonlySet<AssignmentStatus> = new Set(incompleteStatuses);

export interface ReviewingOptions {
  readonly picker: RandomPicker;
  readonly panel: Panel;
  readonly mail: Mail;
}

/** Steps of reviewing; `index` is the round's, from 0. */
export class Reviewing {
  readonly #options: ReviewingOptions;
  readonly #write: ReturnType<typeof createReviewWriter>;
  readonly #nextSource: () => Assignment["source"];
  readonly #nextConflict: () => string;
  readonly #nextDecline: () => string;

  constructor(options: ReviewingOptions) {
    const { picker } = options;
    this.#options = options;
    this.#write = createReviewWriter(picker);
    this.#nextSource = picker.createDeck(["auto", "auto", "bulk", "manual"] as const);
    this.#nextConflict = picker.createDeck(conflictStatements);
    this.#nextDecline = picker.createDeck(declineReasons);
  }

  async assign(
    history: HistoryTransaction,
    group: SubmissionGroup,
    index: number,
    outcomes: readonly ScriptedOutcome[],
  ): Promise<void> {
    const round = group.fixture.rounds[index];
    if (!round) throw new Error(`No round ${index + 1}`);
    for (const [place, member] of this.#seat(group, round, outcomes.length).entries()) {
      const seat: ReviewerSeat = { index, round, member, outcome: outcomes[place] ?? "assigned", assignmentIds: [] };
      group.seats.push(seat);
      await this.#addAssignments(history, group, seat);
    }
  }

  /** Reviewers accept, decline or tell of a conflict of interest. */
  async respond(history: HistoryTransaction, group: SubmissionGroup, index: number): Promise<void> {
    for (const seat of group.seats.filter((each) => each.index === index)) {
      const { patch, action } = this.#response(seat.outcome, history.now) ?? {};
      if (patch && action) await changeAll(history, seat, patch, action);
    }
  }

  /** The office takes assignments back and moves declined ones to others. */
  async rearrange(history: HistoryTransaction, group: SubmissionGroup): Promise<void> {
    for (const seat of [...group.seats]) {
      if (seat.outcome !== "cancelled" && seat.outcome !== "reassigned") continue;
      const action = seat.outcome === "cancelled" ? "assignment.removed" : "assignment.reassigned";
      for (const assignmentId of seat.assignmentIds) {
        await history.change("assignments", assignmentId, ({ status }) => toEndedAssignment(status, history.now), {
          action,
        });
      }
      const [member] = seat.outcome === "reassigned" ? this.#seat(group, seat.round, 1) : [];
      if (!member) continue;
      const next: ReviewerSeat = { ...seat, member, outcome: "assigned", assignmentIds: [] };
      group.seats.push(next);
      await this.#addAssignments(history, group, next, seat);
    }
  }

  /** Reviewers hand in reviews, or begin them. */
  async review(history: HistoryTransaction, group: SubmissionGroup, index: number): Promise<void> {
    for (const seat of group.seats) {
      if (seat.index !== index || (seat.outcome !== "completed" && seat.outcome !== "draft")) continue;
      for (const [place, copy] of group.copies.entries()) await this.#write(history, group, seat, copy, place);
      if (seat.outcome === "completed") {
        await changeAll(history, seat, { status: "completed", completedAt: history.now }, "assignment.completed");
      }
    }
  }

  /** Nobody reviews a submission that is out of consideration. */
  async cancelOpen(history: HistoryTransaction, group: SubmissionGroup): Promise<void> {
    for (const assignmentId of group.seats.flatMap((seat) => seat.assignmentIds)) {
      await history.change("assignments", assignmentId, ({ status }) =>
        open.has(status) ? toEndedAssignment(status, history.now) : {},
      );
    }
  }

  #seat(group: SubmissionGroup, { row: { roundId } }: RoundFixture, reviewers: number): Member[] {
    return this.#options.panel.seat({
      roundId,
      domain: group.project.domain,
      submissions: group.copies.length,
      reviewers,
      barred: new Set(group.seats.map(({ member }) => member.reviewerId)),
      maxPerReviewer: group.fixture.program.assignmentRules.maxPerReviewer ?? Number.POSITIVE_INFINITY,
    });
  }

  /** Adds one assignment of each submission; `from`: those that it takes over. */
  async #addAssignments(
    history: HistoryTransaction,
    group: SubmissionGroup,
    seat: ReviewerSeat,
    from?: ReviewerSeat,
  ): Promise<void> {
    const { picker, mail } = this.#options;
    const { roundId, deadline } = seat.round.row;
    const { programId, trackId } = group.fixture.track;
    const { reviewerId, person } = seat.member;
    const source = from ? "reassign" : this.#nextSource();
    for (const [index, { submissionId }] of group.copies.entries()) {
      const assignmentId = history.newId("asg");
      seat.assignmentIds.push(assignmentId);
      const ids = { assignmentId, programId, trackId, roundId, submissionId, reviewerId };
      const reassignedFromId = from?.assignmentIds[index];
      const taken = reassignedFromId === undefined ? {} : { reassignedFromId, reason: picker.pick(reassignReasons) };
      await history.add("assignments", {
        ...unread,
        ...ids,
        ...taken,
        source,
        dueAt: deadline,
        assignedAt: history.now,
      });
    }
    const to = { email: person.email, name: person.firstName, kind: "reviewer" } as const;
    await mail(history, "assigned", to, { programId, programName: group.fixture.program.name });
  }

  /** What a reviewer answers who will come to that outcome; nothing yet for the rest. */
  #response(outcome: ScriptedOutcome, respondedAt: string): Response | undefined {
    const attest = (hasConflict: boolean, statement: string) => ({
      conflictAttestation: { hasConflict, statement, attestedAt: respondedAt },
    });
    switch (outcome) {
      case "accepted":
      case "draft":
      case "completed":
        return {
          patch: { status: "accepted", respondedAt, ...attest(false, noConflictStatement) },
          action: "assignment.accepted",
        };
      case "declined":
      case "reassigned":
        return {
          patch: { status: "declined", respondedAt, reason: this.#nextDecline() },
          action: "assignment.declined",
        };
      case "conflict":
        return {
          patch: { status: "conflict", respondedAt, ...attest(true, this.#nextConflict()) },
          action: "assignment.conflict_declared",
        };
      default:
        return undefined;
    }
  }
}

interface Response {
  readonly patch: Patch<"assignments">;
  readonly action: string;
}

/** A reviewer's step with all assignments of a seat. */
async function changeAll(
  history: HistoryTransaction,
  seat: ReviewerSeat,
  patch: Patch<"assignments">,
  action: string,
): Promise<void> {
  for (const assignmentId of seat.assignmentIds) {
    await history.change("assignments", assignmentId, patch, { action, by: seat.member.by });
  }
}

/** Writes reviews: scores around the application's merit, remarks that go with the scores. */
function createReviewWriter(picker: RandomPicker) {
  const decks = new Map<readonly string[], () => string>();
  const say = (texts: readonly string[]): string => {
    const next = decks.get(texts) ?? picker.createDeck(texts);
    decks.set(texts, next);
    return next();
  };

  function scoresOf(copy: GroupSubmission, { rubric }: RoundFixture, criteria: readonly Criterion[]): Review["scores"] {
    return criteria.map((criterion) => {
      const value = pickScore(copy.merit, criterion, picker);
      const remarks = rubric.remarks.get(criterion.criterionId);
      const band = toScoreBand((value - criterion.min) / (criterion.max - criterion.min));
      const comment = remarks && picker.isLikely(0.75) ? say(remarks[band]) : null;
      return { criterionId: criterion.criterionId, value, comment };
    });
  }

  return async (
    history: HistoryTransaction,
    { fixture }: SubmissionGroup,
    seat: ReviewerSeat,
    copy: GroupSubmission,
    place: number,
  ): Promise<void> => {
    const { round, member } = seat;
    const { rubricId, rubricVersion, criteria } = round.rubric.row;
    const submitted = seat.outcome === "completed";
    const scores = scoresOf(copy, round, submitted ? criteria : criteria.slice(0, 2));
    const totals = submitted ? scoreReview(round.rubric.row, scores) : { totalScore: null, weightedScore: null };
    const verdict = toRecommendation(totals.weightedScore ?? 0);
    const row = {
      reviewId: history.newId("rev"),
      assignmentId: seat.assignmentIds[place] ?? "",
      submissionId: copy.submissionId,
      programId: fixture.program.programId,
      roundId: round.row.roundId,
      reviewerId: member.reviewerId,
      rubricId,
      rubricVersion,
      scores,
      ...totals,
    };
    await history.add(
      "reviews",
      submitted
        ? {
            ...row,
            status: "submitted",
            recommendation: verdict,
            overallComment: say(overallComments[verdict]),
            confidentialComment: picker.isLikely(0.3) ? say(confidentialComments) : null,
            submittedAt: history.now,
          }
        : {
            ...row,
            status: "draft",
            recommendation: "none",
            overallComment: null,
            confidentialComment: null,
            submittedAt: null,
          },
      { action: submitted ? "review.submitted" : "review.created", by: member.by },
    );
  };
}

/** A score on the criterion's scale, the more often near the merit (0 to 1) the nearer it is. */
export function pickScore(merit: number, { min, max, step }: Criterion, picker: RandomPicker): number {
  const noise = (picker.pickInteger(-20, 20) + picker.pickInteger(-20, 20)) / 100;
  const share = Math.min(1, Math.max(0, merit + noise));
  return min + Math.round((share * (max - min)) / step) * step;
}

export function toScoreBand(share: number): "low" | "middle" | "high" {
  if (share < 0.4) return "low";
  return share < 0.7 ? "middle" : "high";
}

/** On a scale from 1 to 5. */
export function toRecommendation(score: number): "accept" | "revise" | "reject" {
  if (score >= 3.8) return "accept";
  return score >= 2.7 ? "revise" : "reject";
}
