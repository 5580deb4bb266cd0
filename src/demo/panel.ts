import type { MailHistory } from "./mail.ts";
import type { People } from "./people.ts";
import type { RandomPicker } from "./random-picker.ts";
import type { ServiceSession } from "./service-session.ts";
import type { Invitation, PlannedSubmission, PlannedTrack } from "./tenant-plan.ts";
import type { Timeline } from "./timeline.ts";

/** A reviewer, with what can still be given to review. */
interface Member {
  readonly email: string;
  readonly firstName: string;
  readonly expertise: readonly string[];
  /** Assignments in all, at most. */
  readonly maxAssignments: number;
  readonly active: boolean;
  readonly roundIds: Set<string>;
  readonly heldByRound: Map<string, number>;
}

export interface PanelOptions {
  readonly timeline: Timeline;
  readonly session: ServiceSession;
  readonly picker: RandomPicker;
  readonly people: People;
  readonly mail: MailHistory;
  readonly domains: readonly string[];
}

/** The reviewers of a tenant. */
export class Panel {
  readonly #options: PanelOptions;
  readonly #members = new Map<string, Member>();
  readonly #nextDomain: () => string;

  constructor(options: PanelOptions) {
    this.#options = options;
    this.#nextDomain = options.picker.createDeck(options.domains);
  }

  /** Plans invitations; the more there are to review, the more reviewers, and the more each of them reviews. */
  inviteAll(invitations: readonly Invitation[], tracks: readonly PlannedTrack[], growth: number): void {
    for (const { maxAssignments, count = 1, scaled, ...invitation } of invitations) {
      const bound = maxAssignments === undefined ? {} : { maxAssignments: Math.ceil(maxAssignments * growth) };
      const reviewers = scaled ? Math.round(count * (2.8 * growth - 1.8)) : count;
      for (let index = 0; index < reviewers; index++) this.#invite({ ...invitation, ...bound }, tracks);
    }
  }

  /** Plans an invitation and what follows from it. */
  #invite(invitation: Invitation, tracks: readonly PlannedTrack[]): void {
    const { timeline, session, people, picker, mail } = this.#options;
    const { status, invited, added, lead, maxAssignments } = invitation;
    const person = people.nextPerson();
    const { email, firstName, lastName, organization: affiliation } = person;
    const domains = [this.#nextDomain(), this.#nextDomain(), this.#nextDomain()];
    const expertise = [...new Set(domains)].slice(0, picker.pickInteger(2, 3));
    const role = lead ? "lead_reviewer" : "reviewer";
    let reviewerId = "";

    const send = async (keys: readonly string[]) => {
      const rounds = tracks.filter(({ plan }) => keys.includes(plan.key)).flatMap((track) => track.rounds);
      const roundIds = rounds.map(({ row }) => row.roundId);
      const given = { email, firstName, lastName, affiliation, expertise, role, roundIds };
      ({ reviewerId } = await mail.invite(given));
      return roundIds;
    };
    timeline.on(invited, "staff", async () => {
      const kinds: ("reviewer" | "contact")[] = picker.isLikely(0.3) ? ["reviewer", "contact"] : ["reviewer"];
      if (people.form) await people.addPerson({ person, kinds, source: "manual" });
      const roundIds = new Set(await send(invitation.tracks));
      if (maxAssignments !== undefined) await session.change("reviewers", reviewerId, { maxAssignments });
      const bounds = { maxAssignments: maxAssignments ?? Infinity, roundIds, heldByRound: new Map() };
      this.#members.set(reviewerId, { email, firstName, expertise, active: status === "active", ...bounds });
    });
    if (status === "invited") return;
    timeline.on(invited - 3, "portal", () => answerInvitation(session, reviewerId, status === "declined"));
    if (added) {
      timeline.on(added.daysAgo, "staff", async () => {
        for (const roundId of await send(added.tracks)) this.#members.get(reviewerId)?.roundIds.add(roundId);
      });
    }
    if (status !== "inactive") return;
    timeline.on(invited - 15, "staff", () => session.change("reviewers", reviewerId, { status }));
  }

  /** Chooses reviewers with the least to review, those of the domain first, and counts the submission to their load. */
  choose({ track, project, assignments }: PlannedSubmission, roundId: string, reviewers: number): string[] {
    const { domain } = project;
    const maxPerReviewer = track.program.assignmentRules.maxPerReviewer ?? Infinity;
    const barred = new Set(assignments.map(({ reviewerId }) => reviewerId));
    const free = [...this.#members].filter(([reviewerId, { active, roundIds, heldByRound, maxAssignments }]) => {
      const total = [...heldByRound.values()].reduce((sum, held) => sum + held, 0);
      const fits = (heldByRound.get(roundId) ?? 0) < maxPerReviewer && total < maxAssignments;
      return active && fits && roundIds.has(roundId) && !barred.has(reviewerId);
    });
    const rank = ({ expertise, heldByRound }: Member) =>
      (expertise.includes(domain) ? 0 : 1_000_000) + (heldByRound.get(roundId) ?? 0);
    const chosen = free.toSorted(([, a], [, b]) => rank(a) - rank(b)).slice(0, reviewers);
    for (const [, { heldByRound }] of chosen) heldByRound.set(roundId, (heldByRound.get(roundId) ?? 0) + 1);
    return chosen.map(([reviewerId]) => reviewerId);
  }

  findRecipient(reviewerId: string) {
    const { email = "", firstName: name = "" } = this.#members.get(reviewerId) ?? {};
    return { email, name, kind: "reviewer" as const };
  }
}

/** Accepts the latest invitation, unless it is from an earlier season. Only the product's own pages can decline one. */
async function answerInvitation(session: ServiceSession, reviewerId: string, declined: boolean): Promise<void> {
  if ((await session.reader.get("reviewers", reviewerId))?.status === "active") return;
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
