import type { Assignment, AssignmentStatus } from "../contract/assignments.ts";
import type { Review } from "../contract/reviews.ts";
import type { Criterion } from "../contract/schemas.ts";
import { incompleteStatuses, toEndedAssignment } from "../domain/assignments.ts";
import { scoreReview } from "../domain/scoring.ts";
import type { Patch } from "../store/tables.ts";
import type { Batch, Copy, Seat } from "./batch.ts";
import { confidentialComments, overallComments } from "./comments.ts";
import type { CourseRound } from "./course.ts";
import type { Draw } from "./draw.ts";
import type { Outcome } from "./journeys.ts";
import type { Mail } from "./mail.ts";
import { unread } from "./records.ts";
import type { Member, Panel } from "./reviewers.ts";
import { conflictStatements, declineReasons, noConflictStatement, reassignReasons } from "./texts.ts";
import type { Desk } from "./timeline.ts";

const open: ReadonlySet<AssignmentStatus> = new Set(incompleteStatuses);

export interface ReviewingOptions {
  readonly draw: Draw;
  readonly panel: Panel;
  readonly mail: Mail;
}

/** Steps of reviewing; `index` is the round's, from 0. */
export class Reviewing {
  readonly #options: ReviewingOptions;
  readonly #write: ReturnType<typeof createReviews>;
  readonly #nextSource: () => Assignment["source"];
  readonly #nextConflict: () => string;
  readonly #nextDecline: () => string;

  constructor(options: ReviewingOptions) {
    const { draw } = options;
    this.#options = options;
    this.#write = createReviews(draw);
    this.#nextSource = draw.deck(["auto", "auto", "bulk", "manual"] as const);
    this.#nextConflict = draw.deck(conflictStatements);
    this.#nextDecline = draw.deck(declineReasons);
  }

  async assign(desk: Desk, batch: Batch, index: number, outcomes: readonly Outcome[]): Promise<void> {
    const round = batch.course.rounds[index];
    if (!round) throw new Error(`No round ${index + 1}`);
    for (const [place, member] of this.#seat(batch, round, outcomes.length).entries()) {
      const seat: Seat = { index, round, member, outcome: outcomes[place] ?? "assigned", assignmentIds: [] };
      batch.seats.push(seat);
      await this.#addAssignments(desk, batch, seat);
    }
  }

  /** Reviewers accept, decline or tell of a conflict of interest. */
  async respond(desk: Desk, batch: Batch, index: number): Promise<void> {
    for (const seat of batch.seats.filter((each) => each.index === index)) {
      const { patch, action } = this.#response(seat.outcome, desk.now) ?? {};
      if (patch && action) await changeAll(desk, seat, patch, action);
    }
  }

  /** The office takes assignments back and moves declined ones to others. */
  async rearrange(desk: Desk, batch: Batch): Promise<void> {
    for (const seat of [...batch.seats]) {
      if (seat.outcome !== "cancelled" && seat.outcome !== "reassigned") continue;
      const action = seat.outcome === "cancelled" ? "assignment.removed" : "assignment.reassigned";
      for (const assignmentId of seat.assignmentIds) {
        await desk.change("assignments", assignmentId, ({ status }) => toEndedAssignment(status, desk.now), { action });
      }
      const [member] = seat.outcome === "reassigned" ? this.#seat(batch, seat.round, 1) : [];
      if (!member) continue;
      const next: Seat = { ...seat, member, outcome: "assigned", assignmentIds: [] };
      batch.seats.push(next);
      await this.#addAssignments(desk, batch, next, seat);
    }
  }

  /** Reviewers hand in reviews, or begin them. */
  async review(desk: Desk, batch: Batch, index: number): Promise<void> {
    for (const seat of batch.seats) {
      if (seat.index !== index || (seat.outcome !== "completed" && seat.outcome !== "draft")) continue;
      for (const [place, copy] of batch.copies.entries()) await this.#write(desk, batch, seat, copy, place);
      if (seat.outcome === "completed") {
        await changeAll(desk, seat, { status: "completed", completedAt: desk.now }, "assignment.completed");
      }
    }
  }

  /** Nobody reviews a submission that is out of consideration. */
  async cancelOpen(desk: Desk, batch: Batch): Promise<void> {
    for (const assignmentId of batch.seats.flatMap((seat) => seat.assignmentIds)) {
      await desk.change("assignments", assignmentId, ({ status }) =>
        open.has(status) ? toEndedAssignment(status, desk.now) : {},
      );
    }
  }

  #seat(batch: Batch, { row: { roundId } }: CourseRound, reviewers: number): Member[] {
    return this.#options.panel.seat({
      roundId,
      domain: batch.project.domain,
      submissions: batch.copies.length,
      reviewers,
      barred: new Set(batch.seats.map(({ member }) => member.reviewerId)),
      maxPerReviewer: batch.course.program.assignmentRules.maxPerReviewer ?? Number.POSITIVE_INFINITY,
    });
  }

  /** Adds one assignment of each submission; `from`: those that it takes over. */
  async #addAssignments(desk: Desk, batch: Batch, seat: Seat, from?: Seat): Promise<void> {
    const { draw, mail } = this.#options;
    const { roundId, deadline } = seat.round.row;
    const { programId, trackId } = batch.course.track;
    const { reviewerId, person } = seat.member;
    const source = from ? "reassign" : this.#nextSource();
    for (const [index, { submissionId }] of batch.copies.entries()) {
      const assignmentId = desk.newId("asg");
      seat.assignmentIds.push(assignmentId);
      const ids = { assignmentId, programId, trackId, roundId, submissionId, reviewerId };
      const reassignedFromId = from?.assignmentIds[index];
      const taken = reassignedFromId === undefined ? {} : { reassignedFromId, reason: draw.one(reassignReasons) };
      await desk.add("assignments", { ...unread, ...ids, ...taken, source, dueAt: deadline, assignedAt: desk.now });
    }
    const to = { email: person.email, name: person.firstName, kind: "reviewer" } as const;
    await mail(desk, "assigned", to, { programId, programName: batch.course.program.name });
  }

  /** What a reviewer answers who will come to that outcome; nothing yet for the rest. */
  #response(outcome: Outcome, respondedAt: string): Response | undefined {
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
async function changeAll(desk: Desk, seat: Seat, patch: Patch<"assignments">, action: string): Promise<void> {
  for (const assignmentId of seat.assignmentIds) {
    await desk.change("assignments", assignmentId, patch, { action, by: seat.member.by });
  }
}

/** Writes reviews: scores around the application's merit, remarks that go with the scores. */
function createReviews(draw: Draw) {
  const decks = new Map<readonly string[], () => string>();
  const say = (texts: readonly string[]): string => {
    const next = decks.get(texts) ?? draw.deck(texts);
    decks.set(texts, next);
    return next();
  };

  function scoresOf(copy: Copy, { rubric }: CourseRound, criteria: readonly Criterion[]): Review["scores"] {
    return criteria.map((criterion) => {
      const value = scoreAround(copy.merit, criterion, draw);
      const remarks = rubric.remarks.get(criterion.criterionId);
      const band = bandOf((value - criterion.min) / (criterion.max - criterion.min));
      const comment = remarks && draw.chance(0.75) ? say(remarks[band]) : null;
      return { criterionId: criterion.criterionId, value, comment };
    });
  }

  return async (desk: Desk, { course }: Batch, seat: Seat, copy: Copy, place: number): Promise<void> => {
    const { round, member } = seat;
    const { rubricId, rubricVersion, criteria } = round.rubric.row;
    const submitted = seat.outcome === "completed";
    const scores = scoresOf(copy, round, submitted ? criteria : criteria.slice(0, 2));
    const totals = submitted ? scoreReview(round.rubric.row, scores) : { totalScore: null, weightedScore: null };
    const verdict = verdictOf(totals.weightedScore ?? 0);
    const row = {
      reviewId: desk.newId("rev"),
      assignmentId: seat.assignmentIds[place] ?? "",
      submissionId: copy.submissionId,
      programId: course.program.programId,
      roundId: round.row.roundId,
      reviewerId: member.reviewerId,
      rubricId,
      rubricVersion,
      scores,
      ...totals,
    };
    await desk.add(
      "reviews",
      submitted
        ? {
            ...row,
            status: "submitted",
            recommendation: verdict,
            overallComment: say(overallComments[verdict]),
            confidentialComment: draw.chance(0.3) ? say(confidentialComments) : null,
            submittedAt: desk.now,
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
export function scoreAround(merit: number, { min, max, step }: Criterion, draw: Draw): number {
  const noise = (draw.whole(-20, 20) + draw.whole(-20, 20)) / 100;
  const share = Math.min(1, Math.max(0, merit + noise));
  return min + Math.round((share * (max - min)) / step) * step;
}

export function bandOf(share: number): "low" | "middle" | "high" {
  if (share < 0.4) return "low";
  return share < 0.7 ? "middle" : "high";
}

/** On a scale from 1 to 5. */
export function verdictOf(score: number): "accept" | "revise" | "reject" {
  if (score >= 3.8) return "accept";
  return score >= 2.7 ? "revise" : "reject";
}
