import type { Criterion } from "../contract/schemas.ts";
import reasons from "./data/reasons.json" with { type: "json" };
import rubricTexts from "./data/rubrics.json" with { type: "json" };
import type { DemoRubric } from "./forms.ts";
import type { MailHistory } from "./mail.ts";
import type { Panel } from "./panel.ts";
import type { RandomPicker } from "./random-picker.ts";
import type { ScenarioStep, ScriptedOutcome } from "./scenarios.ts";
import type { ServiceSession } from "./service-session.ts";
import { type PlannedSubmission, pickAlternative } from "./tenant-plan.ts";

export interface ReviewServices {
  readonly session: ServiceSession;
  readonly picker: RandomPicker;
  readonly panel: Panel;
  readonly mail: MailHistory;
}

type ReviewStep = Extract<
  ScenarioStep,
  "assign" | "respond" | "rearrange" | "review" | "assign2" | "respond2" | "review2"
>;
type Step = (submission: PlannedSubmission) => Promise<unknown>;

/** Creates the steps of reviewing. */
export function createReviewSteps(services: ReviewServices): Readonly<Record<ReviewStep, Step>> {
  const { session, picker } = services;
  const { assign, rearrange } = createAssignments(services);
  const respond = createResponse(services);

  /** Reviewers submit reviews, or begin them. */
  async function review(submission: PlannedSubmission, index: number): Promise<void> {
    const { rubric } = getRound(submission, index);
    const { merit, hostile } = submission;
    const reviewed: readonly ScriptedOutcome[] = ["completed", "draft"];
    const own = submission.assignments.filter(({ round, outcome }) => round === index && reviewed.includes(outcome));
    for (const [place, { assignmentId, outcome }] of own.entries()) {
      const scores = pickScores(rubric, merit, picker);
      if (outcome === "draft") {
        await session.act("submit_review", { assignmentId, scores: scores.slice(0, 2), draft: true });
        continue;
      }
      const recommendation = toRecommendation(scores);
      const comments = {
        overallComment: picker.pick(reasons.overall[recommendation]),
        ...(picker.isLikely(0.3) ? { confidentialComment: picker.pick(reasons.confidential) } : {}),
        ...(place === 0 ? hostile?.review : {}),
      };
      await session.act("submit_review", { assignmentId, scores, recommendation, ...comments });
    }
  }

  return {
    assign: (submission) => assign(submission, 0),
    assign2: (submission) => assign(submission, 1),
    rearrange,
    respond: (submission) => respond(submission, 0),
    respond2: (submission) => respond(submission, 1),
    review: (submission) => review(submission, 0),
    review2: (submission) => review(submission, 1),
  };
}

function createResponse({ session, picker }: ReviewServices) {
  const nextDecline = picker.createDeck(reasons.decline);
  const nextConflict = picker.createDeck(reasons.conflict);

  /** Reviewers accept, decline or state a conflict of interest. */
  return async ({ assignments }: PlannedSubmission, index: number): Promise<void> => {
    for (const { assignmentId, outcome } of assignments.filter(({ round }) => round === index)) {
      if (outcome === "assigned" || outcome === "cancelled") continue;
      if (outcome === "declined" || outcome === "reassigned") {
        await session.act("respond_to_assignment", { assignmentId, response: "decline", reason: nextDecline() });
        continue;
      }
      const hasConflict = outcome === "conflict";
      if (!hasConflict) await session.act("respond_to_assignment", { assignmentId, response: "accept" });
      const statement = hasConflict ? nextConflict() : reasons.noConflict;
      await session.act("attest_conflict", { assignmentId, hasConflict, statement });
    }
  };
}

/** Creates the steps in which staff assign reviewers. */
function createAssignments({ session, mail, panel }: ReviewServices) {
  /** Adds new assignments of the submission to its plan, with the outcomes in turn, and writes to their reviewers. */
  async function take(submission: PlannedSubmission, round: number, outcomes: readonly ScriptedOutcome[]) {
    const { submissionId, assignments, track } = submission;
    const { roundId } = getRound(submission, round).row;
    const known = new Set(assignments.map(({ assignmentId }) => assignmentId));
    const where = { submissionId, roundId, active: true };
    const rows = await session.reader.find("assignments", { where }, { limit: 100 });
    const added = rows.filter(({ assignmentId }) => !known.has(assignmentId));
    for (const [index, { assignmentId, reviewerId }] of added.entries()) {
      assignments.push({ assignmentId, reviewerId, round, outcome: outcomes[index] ?? "assigned" });
      await mail.addLetter("assigned", track.program, panel.findRecipient(reviewerId));
    }
  }

  return {
    async assign(submission: PlannedSubmission, index: number): Promise<void> {
      const { track, scenario, submissionId } = submission;
      const outcomes = pickAlternative(index === 0 ? scenario.first : scenario.second, submission);
      const { roundId } = getRound(submission, index).row;
      if (track.plan.automatic && index === 0) {
        await session.call("auto_assign_reviewers", { roundId, reviewsPerSubmission: outcomes.length });
      } else {
        const reviewerIds = panel.choose(submission, roundId, outcomes.length);
        await session.call("bulk_assign_reviewers", { roundId, submissionIds: [submissionId], reviewerIds });
      }
      await take(submission, index, outcomes);
    },

    /** Takes assignments back, and moves declined ones to others. */
    async rearrange(submission: PlannedSubmission): Promise<void> {
      for (const { assignmentId, outcome, round } of [...submission.assignments]) {
        if (outcome === "cancelled") await session.call("delete_assignment", { assignmentId });
        if (outcome !== "reassigned") continue;
        const [newReviewerId] = panel.choose(submission, getRound(submission, round).row.roundId, 1);
        if (newReviewerId === undefined) continue;
        const given = { newReviewerId, reason: reasons.reassign };
        await session.callOn("reassign_assignment", "assignments", assignmentId, given);
        await take(submission, round, []);
      }
    },
  };
}

function getRound({ track }: PlannedSubmission, index: number) {
  const round = track.rounds[index];
  if (!round) throw new Error(`There is no round ${index + 1}`);
  return round;
}

interface Remarks {
  readonly low: readonly string[];
  readonly middle: readonly string[];
  readonly high: readonly string[];
}

const remarksByLabel = new Map(
  Object.values(rubricTexts.criteria).flatMap((text): (readonly [string, Remarks])[] =>
    "remarks" in text ? [[text.label, text.remarks]] : [],
  ),
);

function pickScores(rubric: DemoRubric, merit: number, picker: RandomPicker) {
  return rubric.criteria.map((criterion) => {
    const { criterionId, label, min, max } = criterion;
    const value = pickScore(merit, criterion, picker);
    const remarks = remarksByLabel.get(label)?.[toScoreBand((value - min) / (max - min))];
    return { criterionId, value, comment: remarks ? picker.pick(remarks) : null };
  });
}

/** Picks a score on the criterion's scale, near the merit more often than far from it. */
function pickScore(merit: number, { min, max, step }: Criterion, picker: RandomPicker): number {
  const noise = (picker.pickInteger(-20, 20) + picker.pickInteger(-20, 20)) / 100;
  const share = Math.min(1, Math.max(0, merit + noise));
  return min + Math.round((share * (max - min)) / step) * step;
}

function toScoreBand(share: number): keyof Remarks {
  if (share < 0.4) return "low";
  return share < 0.7 ? "middle" : "high";
}

/** Maps scores on a scale from 1 to 5. */
function toRecommendation(scores: readonly { readonly value: number }[]): "accept" | "revise" | "reject" {
  const mean = scores.reduce((sum, { value }) => sum + value, 0) / Math.max(1, scores.length);
  if (mean >= 3.8) return "accept";
  return mean >= 2.7 ? "revise" : "reject";
}
