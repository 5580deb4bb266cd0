import type { NewRow } from "../store/tables.ts";
import type { Mail } from "./mail.ts";
import type { NewPerson } from "./names.ts";
import type { People } from "./people.ts";
import type { RandomPicker } from "./random-picker.ts";
import type { HistoryAuthor, HistoryTransaction, Timeline } from "./timeline.ts";
import type { TrackFixture } from "./track-fixture.ts";

/** A reviewer who takes part, with what can still be given to read. */
export interface Member {
  readonly reviewerId: string;
  readonly by: HistoryAuthor;
  readonly person: NewPerson;
  readonly expertise: readonly string[];
  readonly roundIds: readonly string[];
  /** Assignments in all, at most; null: no bound. */
  readonly maxAssignments: number | null;
  readonly heldByRound: Map<string, number>;
}

interface Invitation {
  /** What has become of it. */
  readonly fate: "active" | "invited" | "declined" | "inactive";
  readonly invitedDaysAgo: number;
  readonly fixtures: readonly [TrackFixture, ...TrackFixture[]];
  /** Courses that were added later. */
  readonly addedLater?: readonly TrackFixture[];
  readonly lead?: boolean;
  /** Rounds beyond those of the courses that all members read. */
  readonly final?: boolean;
  readonly maxAssignments?: number;
}

export interface PanelOptions {
  readonly timeline: Timeline;
  readonly picker: RandomPicker;
  readonly people: People;
  readonly mail: Mail;
  readonly domains: readonly string[];
}

/** Reads of a batch of submissions that are to be given out. */
interface Reading {
  readonly roundId: string;
  readonly domain: string;
  readonly submissions: number;
  readonly reviewers: number;
  /** Reviewers who must not have these submissions. */
  readonly barred: ReadonlySet<string>;
  /** Most assignments of a reviewer in the round. */
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
    const { timeline, people, picker } = this.#options;
    const { fate, invitedDaysAgo, fixtures, addedLater = [] } = invitation;
    const reviewerId = timeline.newId("rvw", invitedDaysAgo);
    const { roundIds, programIds } = scopeOf([...fixtures, ...addedLater], invitation);
    const member: Member = {
      reviewerId,
      by: { type: "reviewer", id: reviewerId },
      person: people.nextPerson(),
      expertise: [...new Set([this.#nextDomain(), this.#nextDomain(), this.#nextDomain()])].slice(
        0,
        picker.pickInteger(2, 3),
      ),
      roundIds,
      maxAssignments: invitation.maxAssignments ?? null,
      heldByRound: new Map(),
    };
    if (fate === "active") this.#members.push(member);
    const invitationId = timeline.newId("inv", invitedDaysAgo);
    timeline.on(invitedDaysAgo, "office", (history) => this.#write(history, member, invitation, invitationId));
    if (fate === "invited") return;
    timeline.on(invitedDaysAgo - 3, "portal", async (history) => {
      const note = { action: fate === "declined" ? "reviewer.declined" : "reviewer.accepted", by: member.by };
      const answer =
        fate === "declined"
          ? ({ status: "declined" } as const)
          : ({ status: "active", acceptedAt: history.now } as const);
      await history.change("reviewers", reviewerId, answer, note);
      await history.change("invitations", invitationId, { usedAt: history.now }, { by: member.by });
    });
    if (addedLater.length > 0) {
      timeline.on(
        90,
        "office",
        async (history) => void (await history.change("reviewers", reviewerId, { roundIds, programIds })),
      );
    }
    if (fate !== "inactive") return;
    timeline.on(
      41,
      "office",
      async (history) => void (await history.change("reviewers", reviewerId, { status: "inactive" })),
    );
  }

  /** Chooses reviewers with the least to read, those of the domain first, and counts the submissions to their load. */
  seat({ roundId, domain, submissions, reviewers, barred, maxPerReviewer }: Reading): Member[] {
    const free = this.#members.filter(({ reviewerId, roundIds, heldByRound, maxAssignments }) => {
      const inRound = (heldByRound.get(roundId) ?? 0) + submissions <= maxPerReviewer;
      const inAll = maxAssignments === null || sum(heldByRound.values()) + submissions <= maxAssignments;
      return inRound && inAll && roundIds.includes(roundId) && !barred.has(reviewerId);
    });
    const rank = ({ expertise, heldByRound }: Member) =>
      (expertise.includes(domain) ? 0 : 1_000_000) + (heldByRound.get(roundId) ?? 0);
    const seated = free.toSorted((a, b) => rank(a) - rank(b)).slice(0, reviewers);
    for (const { heldByRound } of seated) heldByRound.set(roundId, (heldByRound.get(roundId) ?? 0) + submissions);
    return seated;
  }

  async #write(
    history: HistoryTransaction,
    member: Member,
    invitation: Invitation,
    invitationId: string,
  ): Promise<void> {
    const { people, mail, picker } = this.#options;
    const { reviewerId, person, expertise, maxAssignments } = member;
    const [{ program }] = invitation.fixtures;
    const { firstName, lastName, email, organization } = person;
    const { personId } = await people.addPerson(history, {
      person,
      kinds: picker.isLikely(0.3) ? ["reviewer", "contact"] : ["reviewer"],
      source: "manual",
    });
    const row: NewRow<"reviewers"> = {
      reviewerId,
      email,
      firstName,
      lastName,
      affiliation: organization,
      expertise: [...expertise],
      role: invitation.lead ? "lead_reviewer" : "reviewer",
      status: "invited",
      ...scopeOf(invitation.fixtures, invitation),
      personId,
      maxAssignments,
      invitedAt: history.now,
      acceptedAt: null,
    };
    await history.add("reviewers", row, { action: "reviewer.invited" });
    const expiresAt = new Date(history.nowMs + 14 * 24 * 60 * 60 * 1000).toISOString();
    await history.add("invitations", {
      invitationId,
      reviewerId,
      sha256: picker.pickDigest(),
      expiresAt,
      usedAt: null,
    });
    const to = { email, name: firstName, kind: "reviewer" } as const;
    await mail(history, "invited", to, { programId: program.programId, programName: program.name });
  }
}

/** What a member of these courses reads. */
function scopeOf(
  fixtures: readonly TrackFixture[],
  { final }: Invitation,
): Pick<NewRow<"reviewers">, "roundIds" | "programIds"> {
  const rounds = fixtures.flatMap((fixture) => fixture.rounds).filter(({ row }) => row.sequence < 3 || final);
  return {
    programIds: [...new Set(fixtures.map(({ program }) => program.programId))],
    roundIds: rounds.map(({ row }) => row.roundId),
  };
}

function sum(numbers: Iterable<number>): number {
  return [...numbers].reduce((total, number) => total + number, 0);
}
