import type { Reviewer } from "../contract/reviewers.ts";
import type { HistorySession } from "./history-session.ts";
import type { MailHistory } from "./mail.ts";
import type { People } from "./people.ts";
import type { RandomPicker } from "./random-picker.ts";
import type { Timeline } from "./timeline.ts";
import type { TrackFixture } from "./track-fixture.ts";

/** A reviewer who takes part, with what can still be given to review. */
interface Member {
  readonly expertise: readonly string[];
  /** Assignments in all, at most; null: no bound. */
  readonly maxAssignments: number | null;
  reviewerId: string;
  readonly roundIds: Set<string>;
  readonly heldByRound: Map<string, number>;
}

interface Invitation {
  readonly status: Reviewer["status"];
  readonly invitedDaysAgo: number;
  readonly fixtures: readonly [TrackFixture, ...TrackFixture[]];
  /** Tracks that a second invitation adds. */
  readonly addedLater?: readonly TrackFixture[];
  readonly lead?: boolean;
  /** The rounds of finalists too. */
  readonly final?: boolean;
  readonly maxAssignments?: number;
}

export interface PanelOptions {
  readonly timeline: Timeline;
  readonly picker: RandomPicker;
  readonly people: People;
  readonly mail: MailHistory;
  readonly domains: readonly string[];
}

/** A submission that needs reviewers in a round. */
interface Need {
  readonly roundId: string;
  readonly domain: string;
  readonly reviewers: number;
  /** Reviewers who must not have this submission. */
  readonly barred: ReadonlySet<string>;
  readonly maxPerReviewer: number;
}

export class Panel {
  readonly #options: PanelOptions;
  readonly #members: Member[] = [];
  readonly #nextDomain: () => string;

  constructor(options: PanelOptions) {
    this.#options = options;
    this.#nextDomain = options.picker.createDeck(options.domains);
  }

  /** Plans an invitation and what followed from it. */
  invite(invitation: Invitation): void {
    const { timeline, people, picker, mail } = this.#options;
    const { status, invitedDaysAgo, fixtures, addedLater = [], lead, maxAssignments = null } = invitation;
    const person = people.nextPerson();
    const domains = [this.#nextDomain(), this.#nextDomain(), this.#nextDomain()];
    const expertise = [...new Set(domains)].slice(0, picker.pickInteger(2, 3));
    const member: Member = { reviewerId: "", expertise, maxAssignments, roundIds: new Set(), heldByRound: new Map() };
    const { email, firstName, lastName, organization: affiliation } = person;

    const send = async (session: HistorySession, tracks: readonly TrackFixture[]) => {
      const rounds = tracks
        .flatMap((fixture) => fixture.rounds)
        .filter(({ row }) => row.sequence < 3 || invitation.final);
      const roundIds = rounds.map(({ row }) => row.roundId);
      const { now } = session;
      const role = lead ? "lead_reviewer" : "reviewer";
      const given = { email, firstName, lastName, affiliation, expertise, role, roundIds };
      ({ reviewerId: member.reviewerId } = await session.call("invite_reviewer", given));
      for (const roundId of roundIds) member.roundIds.add(roundId);
      await mail.deliverQueued(session, now);
    };
    timeline.on(invitedDaysAgo, "office", async (session) => {
      const kinds: ("reviewer" | "contact")[] = picker.isLikely(0.3) ? ["reviewer", "contact"] : ["reviewer"];
      await people.addPerson(session, { person, kinds, source: "manual" });
      await send(session, fixtures);
      if (maxAssignments !== null) await session.change("reviewers", member.reviewerId, { maxAssignments });
      if (status === "active") this.#members.push(member);
    });
    if (status === "invited") return;
    timeline.on(invitedDaysAgo - 3, "portal", (session) => answer(session, member.reviewerId, status === "declined"));
    if (addedLater.length > 0) timeline.on(90, "office", (session) => send(session, addedLater));
    if (status !== "inactive") return;
    timeline.on(invitedDaysAgo - 15, "office", (session) => session.change("reviewers", member.reviewerId, { status }));
  }

  /** Chooses reviewers with the least to review, those of the domain first, and counts the submission to their load. */
  choose({ roundId, domain, reviewers, barred, maxPerReviewer }: Need): string[] {
    const free = this.#members.filter(({ reviewerId, roundIds, heldByRound, maxAssignments }) => {
      const total = [...heldByRound.values()].reduce((sum, held) => sum + held, 0);
      const fits = (heldByRound.get(roundId) ?? 0) < maxPerReviewer && total < (maxAssignments ?? Infinity);
      return fits && roundIds.has(roundId) && !barred.has(reviewerId);
    });
    const rank = ({ expertise, heldByRound }: Member) =>
      (expertise.includes(domain) ? 0 : 1_000_000) + (heldByRound.get(roundId) ?? 0);
    const chosen = free.toSorted((a, b) => rank(a) - rank(b)).slice(0, reviewers);
    return chosen.map(({ reviewerId }) => this.count(reviewerId, roundId));
  }

  /** Counts an assignment to a reviewer's load. */
  count(reviewerId: string, roundId: string): string {
    const held = this.#members.find((member) => member.reviewerId === reviewerId)?.heldByRound;
    held?.set(roundId, (held.get(roundId) ?? 0) + 1);
    return reviewerId;
  }
}

/** Accepts the latest invitation. Only the product's own pages can decline one. */
async function answer(session: HistorySession, reviewerId: string, declined: boolean): Promise<void> {
  const newest = { limit: 1, descending: true } as const;
  const [invitation] = await session.reader.find("invitations", { where: { reviewerId } }, newest);
  const invitationId = invitation?.invitationId ?? "";
  if (!declined) {
    await session.act("accept_invitation", { invitationId });
    return;
  }
  const reviewer = { actorType: "reviewer", actorId: reviewerId } as const;
  await session.change("reviewers", reviewerId, { status: "declined" }, reviewer);
  await session.change("invitations", invitationId, { usedAt: session.now }, reviewer);
}
