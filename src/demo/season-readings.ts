import type { Assignment } from "../contract/assignments.ts";
import { overallComments } from "./comments.ts";
import type { Course, CourseRound } from "./course.ts";
import type { Draw } from "./draw.ts";
import { bandOf, scoreAround, verdictOf } from "./reviewing.ts";
import type { PlannedSeason } from "./season-plan.ts";
import { calendar, type Stage } from "./season-stage.ts";
import * as texts from "./texts.ts";

/** A submission that is judged, as the lists show it. */
interface Judged {
  readonly submissionId: string;
  readonly version: number;
}

const pageSize = 100;

/** What reviewers and staff do with applications: screening, two rounds of reading, the awards. */
export class Readings {
  readonly #stage: Stage;
  readonly #plan: PlannedSeason;
  readonly #draw: Draw;
  /** From 0 to 1, by submission. */
  readonly #merits = new Map<string, number>();

  constructor(stage: Stage, plan: PlannedSeason, draw: Draw) {
    this.#stage = stage;
    this.#plan = plan;
    this.#draw = draw;
  }

  async screen(submissionIds: readonly string[]): Promise<void> {
    const { call, until } = this.#stage;
    await until(calendar.screening);
    for (const submissionId of submissionIds) {
      const { data } = await call("get_submission", { submissionId });
      const eligible = this.#draw.chance(0.9);
      const reason = this.#draw.one(eligible ? texts.eligibleReasons : texts.ineligibleReasons);
      await call("screen_submission", { submissionId, version: data.version, eligible, reason });
      this.#merits.set(submissionId, this.#draw.whole(20, 95) / 100);
    }
  }

  async accept(reviewerId: string): Promise<void> {
    const newest = { limit: 1, descending: true } as const;
    const [invitation] = await this.#stage.reader.find("invitations", { where: { reviewerId } }, newest);
    if (invitation) await this.#stage.act("accept_invitation", { invitationId: invitation.invitationId });
  }

  async read(): Promise<void> {
    await this.#stage.until(calendar.reading);
    for (const course of this.#courses()) {
      const eligible = await this.#inTrack(course, { state: "ELIGIBLE" });
      await this.#judge(course, 0, eligible, calendar.reading, {});
    }
  }

  /** The best go on to the panel, and the best of these are awarded; the others are told why not. */
  async award(): Promise<void> {
    await this.#stage.until(calendar.panel);
    for (const course of this.#courses()) {
      const ranked = await this.#ranked(course, 0);
      const invited = Math.max(2, Math.ceil(ranked.length * 0.3));
      await this.#eliminate(course, 0, ranked.slice(invited));
      await this.#judge(course, 1, ranked.slice(0, invited), calendar.panel, { reviewsPerSubmission: 1 });
    }
    await this.#stage.until(calendar.awards);
    for (const course of this.#courses()) {
      const ranked = await this.#ranked(course, 1);
      const [first, ...finalists] = ranked.slice(0, Math.max(2, Math.ceil(ranked.length / 3)));
      await this.#eliminate(course, 1, ranked.slice(1 + finalists.length));
      for (const finalist of first ? [first, ...finalists] : []) await this.#declare(finalist, "FINALIST");
      if (first) await this.#declare(first, "WINNER");
    }
  }

  #courses(): readonly Course[] {
    return [this.#plan.community, this.#plan.pilot];
  }

  async #judge(
    course: Course,
    index: number,
    candidates: readonly Judged[],
    fromDay: number,
    rules: { readonly reviewsPerSubmission?: number },
  ): Promise<void> {
    const { call } = this.#stage;
    const round = roundAt(course, index);
    const { programId, trackId, roundId } = round.row;
    await call("update_round", { programId, trackId, roundId, version: 0, active: true });
    for (const { submissionId, version } of candidates) {
      await call("advance_submission", { submissionId, version, toRoundId: roundId });
    }
    // It assigns so many at a time.
    for (let assigned = 1; assigned > 0; ) {
      const { data } = await call("auto_assign_reviewers", { roundId, ...rules });
      assigned = data.created.length;
    }
    let done = 0;
    for await (const assignment of this.#assignments(roundId)) {
      await this.#stage.until(fromDay + Math.min(14, (14 * done++) / Math.max(1, 2 * candidates.length)));
      await this.#review(round, assignment);
    }
  }

  async *#assignments(roundId: string): AsyncGenerator<Assignment> {
    let lastEvaluatedKey: string | undefined;
    do {
      const page = await this.#stage.call("list_assignments", { roundId, limit: pageSize, lastEvaluatedKey });
      yield* page.data;
      lastEvaluatedKey = page.lastEvaluatedKey;
    } while (lastEvaluatedKey !== undefined);
  }

  async #review(round: CourseRound, { assignmentId, submissionId }: Assignment): Promise<void> {
    const { act } = this.#stage;
    const mood = this.#draw.whole(1, 100);
    if (mood <= 4) return;
    if (mood <= 9) {
      const reason = this.#draw.one(texts.declineReasons);
      await act("respond_to_assignment", { assignmentId, response: "decline", reason });
      return;
    }
    if (mood <= 13) {
      const statement = this.#draw.one(texts.conflictStatements);
      await act("attest_conflict", { assignmentId, hasConflict: true, statement });
      return;
    }
    await act("respond_to_assignment", { assignmentId, response: "accept" });
    await act("attest_conflict", { assignmentId, hasConflict: false, statement: texts.noConflictStatement });
    const scores = this.#scores(round, this.#merits.get(submissionId) ?? 0.5);
    const mean = scores.reduce((sum, { value }) => sum + value, 0) / Math.max(1, scores.length);
    const recommendation = verdictOf(mean);
    const overallComment = this.#draw.one(overallComments[recommendation]);
    await act("submit_review", { assignmentId, scores, recommendation, overallComment });
  }

  #scores({ rubric }: CourseRound, merit: number) {
    return rubric.row.criteria.map((criterion) => {
      const { criterionId, min, max } = criterion;
      const value = scoreAround(merit, criterion, this.#draw);
      const remarks = rubric.remarks.get(criterionId)?.[bandOf((value - min) / (max - min))];
      return { criterionId, value, comment: remarks ? this.#draw.one(remarks) : null };
    });
  }

  async #inTrack(course: Course, filter: Readonly<Record<string, string>>): Promise<Judged[]> {
    const found: Judged[] = [];
    let lastEvaluatedKey: string | undefined;
    do {
      const query = { ...filter, trackId: course.track.trackId, limit: pageSize, lastEvaluatedKey };
      const page = await this.#stage.call("list_submissions", query);
      found.push(...page.data.map(({ submissionId, version }) => ({ submissionId, version })));
      lastEvaluatedKey = page.lastEvaluatedKey;
    } while (lastEvaluatedKey !== undefined);
    return found;
  }

  /** What is in review in a round, the best first; the order of equals is that of the list. */
  async #ranked(course: Course, index: number): Promise<Judged[]> {
    const { roundId } = roundAt(course, index).row;
    const scored: { readonly judged: Judged; readonly score: number }[] = [];
    for (const judged of await this.#inTrack(course, { roundId, state: "IN_REVIEW" })) {
      const { submissionId } = judged;
      const { data } = await this.#stage.call("get_submission_reviews_summary", { submissionId, roundId });
      scored.push({ judged, score: data.meanScore ?? 0 });
    }
    return scored.toSorted((a, b) => b.score - a.score).map(({ judged }) => judged);
  }

  async #eliminate(course: Course, index: number, judged: readonly Judged[]): Promise<void> {
    const { call, act } = this.#stage;
    const { roundId } = roundAt(course, index).row;
    for (const [place, { submissionId, version }] of judged.entries()) {
      await call("eliminate_submission", { submissionId, version, reason: this.#draw.one(texts.eliminationReasons) });
      if (place % 3 === 2) continue;
      const body = Object.values(texts.feedbackParts)
        .map((part) => this.#draw.one<string>(part))
        .join(" ");
      const given = { submissionId, roundId, subject: "Remarks of the reviewers", body };
      const { feedbackId } = await act("prepare_feedback", given);
      await call("release_feedback", { feedbackId });
    }
  }

  async #declare({ submissionId }: Judged, state: "FINALIST" | "WINNER"): Promise<void> {
    const { data } = await this.#stage.call("get_submission", { submissionId });
    await this.#stage.call("set_submission_state", { submissionId, version: data.version, state });
  }
}

function roundAt({ rounds }: Course, index: number): CourseRound {
  const round = rounds[index];
  if (!round) throw new Error(`No round ${index + 1}`);
  return round;
}
