import type { Assignment } from "../contract/assignments.ts";
import type { Criterion } from "../contract/schemas.ts";
import { confidentialComments, overallComments } from "./comments.ts";
import type { HistorySession } from "./history-session.ts";
import type { MailHistory } from "./mail.ts";
import type { RandomPicker } from "./random-picker.ts";
import type { Panel } from "./reviewers.ts";
import type { ScriptedOutcome } from "./scenarios.ts";
import { type PlannedAssignment, pickAlternative, type SubmissionPlan } from "./submission-plan.ts";
import { conflictStatements, declineReasons, noConflictStatement, reassignReasons } from "./texts.ts";
import type { RoundFixture } from "./track-fixture.ts";

export interface ReviewingOptions {
  readonly picker: RandomPicker;
  readonly panel: Panel;
  readonly mail: MailHistory;
}

/** Steps of reviewing. `round` is an index, from 0. */
export class Reviewing {
  readonly #options: ReviewingOptions;
  readonly #nextSource: () => Assignment["source"];
  readonly #nextDecline: () => string;
  readonly #nextConflict: () => string;

  constructor(options: ReviewingOptions) {
    this.#options = options;
    this.#nextSource = options.picker.createDeck(["bulk", "bulk", "manual"] as const);
    this.#nextDecline = options.picker.createDeck(declineReasons);
    this.#nextConflict = options.picker.createDeck(conflictStatements);
  }

  async assign(session: HistorySession, plan: SubmissionPlan, round: number): Promise<void> {
    const outcomes = pickAlternative(round === 0 ? plan.scenario.first : plan.scenario.second, plan) ?? [];
    const { roundId } = getRound(plan, round).row;
    if (plan.fixture.automatic && round === 0) {
      await session.call("auto_assign_reviewers", { roundId, reviewsPerSubmission: outcomes.length });
    } else if (this.#nextSource() === "bulk") {
      const reviewerIds = await this.#choose(session, plan, roundId, outcomes.length);
      const pairs = reviewerIds.map((reviewerId) => ({ submissionId: plan.submissionId, reviewerId }));
      await session.call("bulk_assign_reviewers", { roundId, pairs });
    } else {
      for (const reviewerId of await this.#choose(session, plan, roundId, outcomes.length)) {
        await this.#assignManually(session, plan, round, reviewerId);
      }
    }
    await this.#take(session, plan, round, outcomes);
  }

  /** Reviewers accept, decline or state a conflict of interest. */
  async respond(session: HistorySession, plan: SubmissionPlan, round: number): Promise<void> {
    for (const { assignmentId, outcome } of plan.assignments.filter((each) => each.round === round)) {
      if (outcome === "assigned" || outcome === "cancelled") continue;
      if (outcome === "declined" || outcome === "reassigned") {
        const reason = this.#nextDecline();
        await session.act("respond_to_assignment", { assignmentId, response: "decline", reason });
        continue;
      }
      const hasConflict = outcome === "conflict";
      if (!hasConflict) await session.act("respond_to_assignment", { assignmentId, response: "accept" });
      const statement = hasConflict ? this.#nextConflict() : noConflictStatement;
      await session.act("attest_conflict", { assignmentId, hasConflict, statement });
    }
  }

  /** The office takes assignments back and moves declined ones to others. */
  async rearrange(session: HistorySession, plan: SubmissionPlan): Promise<void> {
    for (const { assignmentId, outcome, round } of [...plan.assignments]) {
      if (outcome === "cancelled") await session.call("delete_assignment", { assignmentId });
      if (outcome !== "reassigned") continue;
      const [newReviewerId] = await this.#choose(session, plan, getRound(plan, round).row.roundId, 1);
      if (newReviewerId === undefined) continue;
      const reason = this.#options.picker.pick(reassignReasons);
      await session.callOn("reassign_assignment", "assignments", assignmentId, { newReviewerId, reason });
      await this.#take(session, plan, round, []);
    }
  }

  /** Reviewers hand in reviews, or begin them. */
  async review(session: HistorySession, plan: SubmissionPlan, index: number): Promise<void> {
    const round = getRound(plan, index);
    const { picker } = this.#options;
    for (const assignment of plan.assignments) {
      const { assignmentId, outcome } = assignment;
      if (assignment.round !== index || (outcome !== "completed" && outcome !== "draft")) continue;
      if (outcome === "draft") {
        const scores = pickScores(round, plan.merit, picker).slice(0, 2);
        await session.act("submit_review", { assignmentId, scores, draft: true });
        continue;
      }
      const review = pickReview(round, plan.merit, picker);
      const confidentialComment = picker.isLikely(0.3)
        ? { confidentialComment: picker.pick(confidentialComments) }
        : {};
      await session.act("submit_review", { assignmentId, ...review, ...confidentialComment });
    }
  }

  async #choose(
    session: HistorySession,
    { submissionId, ...plan }: SubmissionPlan,
    roundId: string,
    reviewers: number,
  ) {
    const before = await session.reader.find("assignments", { where: { submissionId } }, { limit: 100 });
    return this.#options.panel.choose({
      roundId,
      domain: plan.project.domain,
      reviewers,
      barred: new Set(before.map(({ reviewerId }) => reviewerId)),
      maxPerReviewer: plan.fixture.program.assignmentRules.maxPerReviewer ?? Number.POSITIVE_INFINITY,
    });
  }

  /** Only the product's own pages assign one submission to one reviewer. */
  #assignManually(session: HistorySession, plan: SubmissionPlan, round: number, reviewerId: string) {
    const { programId, trackId, roundId, deadline } = getRound(plan, round).row;
    return session.add("assignments", {
      assignmentId: session.newId("asg"),
      ...{ programId, trackId, roundId, reviewerId },
      submissionId: plan.submissionId,
      status: "assigned",
      source: "manual",
      active: true,
      dueAt: deadline,
      assignedAt: session.now,
      reassignedFromId: null,
      reason: null,
      respondedAt: null,
      completedAt: null,
      removedAt: null,
      conflictAttestation: null,
    });
  }

  /** Adds new assignments of the submission to its plan, with the outcomes in turn, and tells their reviewers. */
  async #take(session: HistorySession, plan: SubmissionPlan, round: number, outcomes: readonly ScriptedOutcome[]) {
    const { programId, roundId } = getRound(plan, round).row;
    const known = new Set(plan.assignments.map(({ assignmentId }) => assignmentId));
    const where = { submissionId: plan.submissionId, roundId, active: true };
    const rows = await session.reader.find("assignments", { where }, { limit: 100 });
    const added = rows.filter(({ assignmentId }) => !known.has(assignmentId));
    for (const [index, { assignmentId, reviewerId }] of added.entries()) {
      const planned: PlannedAssignment = { assignmentId, reviewerId, round, outcome: outcomes[index] ?? "assigned" };
      plan.assignments.push(planned);
      const reviewer = await session.reader.get("reviewers", reviewerId);
      const letter = { email: reviewer?.email ?? "", name: reviewer?.firstName ?? "", kind: "reviewer" as const };
      const programName = plan.fixture.program.name;
      await this.#options.mail.addLetter(session, "assigned", { ...letter, programId, programName });
    }
  }
}

function getRound({ fixture }: SubmissionPlan, index: number): RoundFixture {
  const round = fixture.rounds[index];
  if (!round) throw new Error(`There is no round ${index + 1}`);
  return round;
}

/** Picks a whole review for an application of that merit, from 0 to 1. */
export function pickReview(round: RoundFixture, merit: number, picker: RandomPicker) {
  const scores = pickScores(round, merit, picker);
  const mean = scores.reduce((sum, { value }) => sum + value, 0) / Math.max(1, scores.length);
  const recommendation = toRecommendation(mean);
  return { scores, recommendation, overallComment: picker.pick<string>(overallComments[recommendation]) };
}

function pickScores({ rubric }: RoundFixture, merit: number, picker: RandomPicker) {
  return rubric.row.criteria.map((criterion) => {
    const { criterionId, min, max } = criterion;
    const value = pickScore(merit, criterion, picker);
    const remarks = rubric.remarks.get(criterionId)?.[toScoreBand((value - min) / (max - min))];
    return { criterionId, value, comment: remarks ? picker.pick(remarks) : null };
  });
}

/** Picks a score on the criterion's scale, near the merit more often than far from it. */
function pickScore(merit: number, { min, max, step }: Criterion, picker: RandomPicker): number {
  const noise = (picker.pickInteger(-20, 20) + picker.pickInteger(-20, 20)) / 100;
  const share = Math.min(1, Math.max(0, merit + noise));
  return min + Math.round((share * (max - min)) / step) * step;
}

function toScoreBand(share: number): "low" | "middle" | "high" {
  if (share < 0.4) return "low";
  return share < 0.7 ? "middle" : "high";
}

/** Maps a mean score on a scale from 1 to 5. */
function toRecommendation(score: number): "accept" | "revise" | "reject" {
  if (score >= 3.8) return "accept";
  return score >= 2.7 ? "revise" : "reject";
}
