import type { Assignment } from "../contract/assignments.ts";
import type { RandomPicker } from "./random-picker.ts";
import { pickReview } from "./reviewing.ts";
import { calendar, type SeasonContext } from "./season-context.ts";
import type { PlannedSeason } from "./season-plan.ts";
import * as texts from "./texts.ts";
import type { RoundFixture, TrackFixture } from "./track-fixture.ts";

/** A submission that is judged, as the lists show it. */
interface Judged {
  readonly submissionId: string;
  readonly version: number;
}

const pageSize = 100;

/** What reviewers and staff do with applications: screening, two rounds of reading, the awards. */
export class SeasonReviewing {
  readonly #context: SeasonContext;
  readonly #plan: PlannedSeason;
  readonly #picker: RandomPicker;
  /** From 0 to 1, by submission. */
  readonly #merits = new Map<string, number>();

  constructor(context: SeasonContext, plan: PlannedSeason, picker: RandomPicker) {
    this.#context = context;
    this.#plan = plan;
    this.#picker = picker;
  }

  async screen(submissionIds: readonly string[]): Promise<void> {
    const { call, until } = this.#context;
    await until(calendar.screening);
    for (const submissionId of submissionIds) {
      const { data } = await call("get_submission", { submissionId });
      const eligible = this.#picker.isLikely(0.9);
      const reason = this.#picker.pick(eligible ? texts.eligibleReasons : texts.ineligibleReasons);
      await call("screen_submission", { submissionId, version: data.version, eligible, reason });
      this.#merits.set(submissionId, this.#picker.pickInteger(20, 95) / 100);
    }
  }

  async accept(reviewerId: string): Promise<void> {
    const newest = { limit: 1, descending: true } as const;
    const [invitation] = await this.#context.reader.find("invitations", { where: { reviewerId } }, newest);
    if (invitation) await this.#context.act("accept_invitation", { invitationId: invitation.invitationId });
  }

  async read(): Promise<void> {
    await this.#context.until(calendar.reading);
    for (const fixture of this.#fixtures()) {
      const eligible = await this.#inTrack(fixture, { state: "ELIGIBLE" });
      await this.#judge(fixture, 0, eligible, calendar.reading, {});
    }
  }

  /** The best go on to the panel, and the best of these are awarded; the others are told why not. */
  async award(): Promise<void> {
    await this.#context.until(calendar.panel);
    for (const fixture of this.#fixtures()) {
      const ranked = await this.#ranked(fixture, 0);
      const invited = Math.max(2, Math.ceil(ranked.length * 0.3));
      await this.#eliminate(fixture, 0, ranked.slice(invited));
      await this.#judge(fixture, 1, ranked.slice(0, invited), calendar.panel, { reviewsPerSubmission: 1 });
    }
    await this.#context.until(calendar.awards);
    for (const fixture of this.#fixtures()) {
      const ranked = await this.#ranked(fixture, 1);
      const [first, ...finalists] = ranked.slice(0, Math.max(2, Math.ceil(ranked.length / 3)));
      await this.#eliminate(fixture, 1, ranked.slice(1 + finalists.length));
      for (const finalist of first ? [first, ...finalists] : []) await this.#declare(finalist, "FINALIST");
      if (first) await this.#declare(first, "WINNER");
    }
  }

  #fixtures(): readonly TrackFixture[] {
    return [this.#plan.community, this.#plan.pilot];
  }

  async #judge(
    fixture: TrackFixture,
    index: number,
    candidates: readonly Judged[],
    fromDay: number,
    rules: { readonly reviewsPerSubmission?: number },
  ): Promise<void> {
    const { call } = this.#context;
    const round = roundAt(fixture, index);
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
      await this.#context.until(fromDay + Math.min(14, (14 * done++) / Math.max(1, 2 * candidates.length)));
      await this.#review(round, assignment);
    }
  }

  async *#assignments(roundId: string): AsyncGenerator<Assignment> {
    let lastEvaluatedKey: string | undefined;
    do {
      const page = await this.#context.call("list_assignments", { roundId, limit: pageSize, lastEvaluatedKey });
      yield* page.data;
      lastEvaluatedKey = page.lastEvaluatedKey;
    } while (lastEvaluatedKey !== undefined);
  }

  async #review(round: RoundFixture, { assignmentId, submissionId }: Assignment): Promise<void> {
    const { act } = this.#context;
    const mood = this.#picker.pickInteger(1, 100);
    if (mood <= 4) return;
    if (mood <= 9) {
      const reason = this.#picker.pick(texts.declineReasons);
      await act("respond_to_assignment", { assignmentId, response: "decline", reason });
      return;
    }
    if (mood <= 13) {
      const statement = this.#picker.pick(texts.conflictStatements);
      await act("attest_conflict", { assignmentId, hasConflict: true, statement });
      return;
    }
    await act("respond_to_assignment", { assignmentId, response: "accept" });
    await act("attest_conflict", { assignmentId, hasConflict: false, statement: texts.noConflictStatement });
    await act("submit_review", {
      assignmentId,
      ...pickReview(round, this.#merits.get(submissionId) ?? 0.5, this.#picker),
    });
  }

  async #inTrack(fixture: TrackFixture, filter: Readonly<Record<string, string>>): Promise<Judged[]> {
    const found: Judged[] = [];
    let lastEvaluatedKey: string | undefined;
    do {
      const query = { ...filter, trackId: fixture.track.trackId, limit: pageSize, lastEvaluatedKey };
      const page = await this.#context.call("list_submissions", query);
      found.push(...page.data.map(({ submissionId, version }) => ({ submissionId, version })));
      lastEvaluatedKey = page.lastEvaluatedKey;
    } while (lastEvaluatedKey !== undefined);
    return found;
  }

  /** What is in review in a round, the best first; the order of equals is that of the list. */
  async #ranked(fixture: TrackFixture, index: number): Promise<Judged[]> {
    const { roundId } = roundAt(fixture, index).row;
    const scored: { readonly judged: Judged; readonly score: number }[] = [];
    for (const judged of await this.#inTrack(fixture, { roundId, state: "IN_REVIEW" })) {
      const { submissionId } = judged;
      const { data } = await this.#context.call("get_submission_reviews_summary", { submissionId, roundId });
      scored.push({ judged, score: data.meanScore ?? 0 });
    }
    return scored.toSorted((a, b) => b.score - a.score).map(({ judged }) => judged);
  }

  async #eliminate(fixture: TrackFixture, index: number, judged: readonly Judged[]): Promise<void> {
    const { call, act } = this.#context;
    const { roundId } = roundAt(fixture, index).row;
    for (const [place, { submissionId, version }] of judged.entries()) {
      await call("eliminate_submission", {
        submissionId,
        version,
        reason: this.#picker.pick(texts.eliminationReasons),
      });
      if (place % 3 === 2) continue;
      const body = Object.values(texts.feedbackParts)
        .map((part) => this.#picker.pick<string>(part))
        .join(" ");
      const given = { submissionId, roundId, subject: "Remarks of the reviewers", body };
      const { feedbackId } = await act("prepare_feedback", given);
      await call("release_feedback", { feedbackId });
    }
  }

  async #declare({ submissionId }: Judged, state: "FINALIST" | "WINNER"): Promise<void> {
    const { data } = await this.#context.call("get_submission", { submissionId });
    await this.#context.call("set_submission_state", { submissionId, version: data.version, state });
  }
}

function roundAt({ rounds }: TrackFixture, index: number): RoundFixture {
  const round = rounds[index];
  if (!round) throw new Error(`No round ${index + 1}`);
  return round;
}
