import type { Assignment, AssignmentOutcome, AssignmentStatus, SkipReason } from "../contract/assignments.ts";
import type { AssignmentRules } from "../contract/programs.ts";
import type { Reviewer, ReviewerStatus } from "../contract/reviewers.ts";
import { type Pair, workloadStatuses } from "./assignments.ts";
import { isDeclaredConflict } from "./conflicts.ts";

const workload: ReadonlySet<AssignmentStatus> = new Set(workloadStatuses);

/** Statuses from which a review came or is still expected. */
const reviewingStatuses: ReadonlySet<AssignmentStatus> = new Set(["assigned", "accepted", "completed"]);

/** The part of an earlier assignment that the planner uses. */
export type PastAssignment = Pick<
  Assignment,
  "submissionId" | "reviewerId" | "roundId" | "status" | "active" | "conflictAttestation"
>;

/** The pairs to assign, and the pairs that cannot be assigned with the reason. */
export interface AssignmentPlan {
  readonly assign: readonly Pair[];
  readonly skipped: readonly (Pair & { readonly reason: SkipReason })[];
  /** The truncated lists with their limits. */
  readonly truncated: NonNullable<AssignmentOutcome["truncated"]>;
}

/**
 * Plans the assignment of given pairs in a round, in their order. `past` has all assignments between these submissions
 * and reviewers, of any round, removed ones included.
 */
export function planPairs(
  pairs: readonly Pair[],
  statuses: ReadonlyMap<string, ReviewerStatus>,
  past: readonly PastAssignment[],
  roundId: string,
): AssignmentPlan {
  const conflicts = createPairSet(past.filter(isDeclaredConflict));
  const assigned = createPairSet(past.filter((earlier) => earlier.active && earlier.roundId === roundId));
  const assign: Pair[] = [];
  const skipped: (Pair & { reason: SkipReason })[] = [];
  const findSkipReason = (pair: Pair): SkipReason | undefined => {
    const status = statuses.get(pair.reviewerId);
    if (status !== "active" && status !== "invited") return "reviewer_inactive";
    if (containsPair(conflicts, pair)) return "conflict_of_interest";
    return containsPair(assigned, pair) ? "duplicate" : undefined;
  };
  for (const { submissionId, reviewerId } of pairs) {
    const pair = { submissionId, reviewerId };
    const reason = findSkipReason(pair);
    if (reason) skipped.push({ ...pair, reason });
    else {
      assign.push(pair);
      addPair(assigned, pair);
    }
  }
  return { assign, skipped, truncated: [] };
}

/** Most assignments of one run. The next run continues from there. */
export const maxPlanned = 10_000;
/** Most conflicts of interest that one run reports. */
export const maxSkipped = 1000;

export interface PlanInput {
  readonly roundId: string;
  /** Rounds before this one in the same track. */
  readonly earlierRoundIds: ReadonlySet<string>;
  readonly rules: AssignmentRules;
  /** The round's submissions with their domains from {@link listDomains}. */
  readonly submissions: readonly { readonly submissionId: string; readonly domains: readonly string[] }[];
  /** Active reviewers of the round. */
  readonly reviewers: readonly Pick<Reviewer, "reviewerId" | "expertise" | "maxAssignments">[];
  /** All assignments of the track, of any round, removed ones included. */
  readonly past: readonly PastAssignment[];
  /** Number of assignments of each reviewer, in all programmes. */
  readonly workloads: ReadonlyMap<string, number>;
}

/** A reviewer during planning. `load` is the number of assignments in this round, `room` how many more are possible. */
interface ReviewerSlot {
  readonly reviewerId: string;
  readonly expertise: ReadonlySet<string>;
  readonly planned: SubmissionSlot[];
  load: number;
  room: number;
}

/** A submission during planning. `barred` has the reviewers who cannot be assigned to it, or already are. */
interface SubmissionSlot {
  readonly submissionId: string;
  readonly domains: readonly string[];
  readonly barred: Set<string>;
  reviews: number;
}

/**
 * Plans a round's assignments. Submissions with the fewest reviews come first; each goes to the least loaded reviewer
 * (ties by id) until it has `reviewsPerSubmission`. The plan contains no conflict of interest, no pair twice, no
 * reviewer who declined the submission in this round, and no more than `maxPerReviewer` in the round or
 * `maxAssignments` in total. With expertise matching, reviewers without the submission's expertise are chosen only if no
 * one with it is free. `skipped` has the first 1,000 conflicts of interest of submissions that get too few reviews. The
 * plan does not depend on the order of the input.
 */
export function planAssignments(input: PlanInput): AssignmentPlan {
  const { rules, past, roundId } = input;
  const inRound = past.filter((earlier) => earlier.roundId === roundId && earlier.active);
  const conflicts = createPairSet(past.filter(isDeclaredConflict));
  const slots = createReviewerSlots(input, inRound);
  const submissions = createSubmissionSlots(input, inRound, conflicts);
  distribute(submissions, slots, rules.reviewsPerSubmission);
  balance(slots);
  const short = submissions.filter((submission) => submission.reviews < rules.reviewsPerSubmission);
  const planned = slots.flatMap(({ reviewerId, planned: submissionSlots }) =>
    submissionSlots.map(({ submissionId }) => ({ submissionId, reviewerId })),
  );
  const skipped = short.flatMap(({ submissionId }) =>
    slots
      .map(({ reviewerId }) => ({ submissionId, reviewerId }))
      .filter((pair) => containsPair(conflicts, pair))
      .map((pair) => ({ ...pair, reason: "conflict_of_interest" as const })),
  );
  return {
    assign: planned.toSorted((a, b) => compare(a.submissionId, b.submissionId) || compare(a.reviewerId, b.reviewerId)),
    skipped: skipped.slice(0, maxSkipped),
    truncated: [
      ...(planned.length === maxPlanned && short.length > 0 ? [{ list: "created" as const, limit: maxPlanned }] : []),
      ...(skipped.length > maxSkipped ? [{ list: "skipped" as const, limit: maxSkipped }] : []),
    ],
  };
}

/** Returns the domains in a submission's domain field, normalised for comparison with reviewers' expertise. */
export function listDomains(fields: Readonly<Record<string, unknown>>, domainFieldId: string): string[] {
  const value = Object.hasOwn(fields, domainFieldId) ? fields[domainFieldId] : undefined;
  return [value]
    .flat()
    .filter((domain) => typeof domain === "string")
    .map(normalizeDomain);
}

/** Returns the expertise that matches one of a submission's domains from {@link listDomains}. */
export function listMatchingExpertise(expertise: readonly string[], domains: readonly string[]): string[] {
  return expertise.filter((each) => domains.includes(normalizeDomain(each)));
}

/** Returns how many more assignments the limits of a round and of a reviewer allow: infinite if there is no limit. */
export function computeRoom(
  maxInRound: number | null,
  loadInRound: number,
  maxInAll: number | null,
  loadInAll: number,
): number {
  const roomInRound = (maxInRound ?? Number.POSITIVE_INFINITY) - loadInRound;
  const roomInAll = (maxInAll ?? Number.POSITIVE_INFINITY) - loadInAll;
  return Math.min(roomInRound, roomInAll);
}

function normalizeDomain(domain: string): string {
  return domain.trim().toLowerCase();
}

function createReviewerSlots(
  { reviewers, rules, workloads }: PlanInput,
  inRound: readonly PastAssignment[],
): ReviewerSlot[] {
  const loads = countBy(
    inRound.filter(({ status }) => workload.has(status)),
    ({ reviewerId }) => reviewerId,
  );
  return reviewers
    .map(({ reviewerId, expertise, maxAssignments }) => {
      const load = loads.get(reviewerId) ?? 0;
      return {
        reviewerId,
        expertise: new Set(expertise.map(normalizeDomain)),
        planned: [],
        load,
        room: computeRoom(rules.maxPerReviewer, load, maxAssignments, workloads.get(reviewerId) ?? 0),
      };
    })
    .toSorted((a, b) => compare(a.reviewerId, b.reviewerId));
}

function createSubmissionSlots(
  input: PlanInput,
  inRound: readonly PastAssignment[],
  conflicts: PairSet,
): SubmissionSlot[] {
  const { rules, past, roundId, earlierRoundIds } = input;
  const reviews = countBy(
    inRound.filter(({ status }) => reviewingStatuses.has(status)),
    ({ submissionId }) => submissionId,
  );
  const assigned = createPairSet(inRound);
  const declined = createPairSet(
    past.filter((earlier) => earlier.roundId === roundId && earlier.status === "declined"),
  );
  const reviewed = createPairSet(
    past.filter((earlier) => earlier.status === "completed" && earlierRoundIds.has(earlier.roundId)),
  );
  const barredPairs = [conflicts, assigned, declined, ...(rules.excludePriorRoundReviewers ? [reviewed] : [])];
  return input.submissions
    .map(({ submissionId, domains }) => ({
      submissionId,
      domains: rules.useExpertiseMatching ? domains : [],
      barred: new Set(barredPairs.flatMap((pairs) => [...(pairs.get(submissionId) ?? [])])),
      reviews: reviews.get(submissionId) ?? 0,
    }))
    .toSorted((a, b) => compare(a.submissionId, b.submissionId));
}

/** Assigns in turns: if reviewers are scarce, no submission gets a second reviewer before all have a first. */
function distribute(submissions: readonly SubmissionSlot[], slots: readonly ReviewerSlot[], target: number): void {
  let remaining = maxPlanned;
  let open = submissions.filter((submission) => submission.reviews < target);
  while (open.length > 0 && remaining > 0) {
    const fewest = open.reduce((least, submission) => Math.min(least, submission.reviews), target);
    const stillOpen: SubmissionSlot[] = [];
    for (const submission of open) {
      if (submission.reviews === fewest) {
        const slot = remaining > 0 ? (chooseReviewer(slots, submission) ?? freeReviewer(slots, submission)) : undefined;
        if (!slot) continue;
        assignSubmission(slot, submission);
        submission.reviews += 1;
        remaining -= 1;
      }
      if (submission.reviews < target) stillOpen.push(submission);
    }
    open = stillOpen;
  }
}

/** Returns the free reviewer with the submission's expertise, else with the least load, else with the lowest id. */
function chooseReviewer(slots: readonly ReviewerSlot[], submission: SubmissionSlot): ReviewerSlot | undefined {
  let best: ReviewerSlot | undefined;
  let bestMatches = false;
  for (const slot of slots) {
    if (!canReview(slot, submission)) continue;
    const matches = isExpert(slot, submission);
    if (best && (bestMatches === matches ? slot.load >= best.load : bestMatches)) continue;
    best = slot;
    bestMatches = matches;
  }
  return best;
}

/** Makes room for the submission at a full reviewer by moving a planned submission of theirs to another reviewer. */
function freeReviewer(slots: readonly ReviewerSlot[], submission: SubmissionSlot): ReviewerSlot | undefined {
  const free = slots.filter(({ room }) => room > 0);
  return slots.find(
    (slot) => !submission.barred.has(slot.reviewerId) && free.some((other) => moveSubmission(slot, other)),
  );
}

/**
 * Moves planned submissions from reviewers with more load to those with less until the loads are even, because turns
 * can pass over a reviewer who is barred from all remaining submissions. Every move lowers the sum of the squared loads,
 * so the loop ends.
 */
function balance(slots: readonly ReviewerSlot[]): void {
  for (let moved = true; moved; ) {
    moved = false;
    for (const full of slots) {
      for (const empty of slots) {
        while (full.load - empty.load >= 2 && moveSubmission(full, empty)) moved = true;
      }
    }
  }
}

/** Moves a planned submission to another reviewer who matches it equally. Returns whether there was one. */
function moveSubmission(from: ReviewerSlot, to: ReviewerSlot): boolean {
  const submission = from.planned.find((each) => canReview(to, each) && isExpert(to, each) === isExpert(from, each));
  if (!submission) return false;
  unassignSubmission(from, submission);
  assignSubmission(to, submission);
  return true;
}

function canReview(slot: ReviewerSlot, submission: SubmissionSlot): boolean {
  return slot.room > 0 && !submission.barred.has(slot.reviewerId);
}

function isExpert(slot: ReviewerSlot, submission: SubmissionSlot): boolean {
  return submission.domains.some((domain) => slot.expertise.has(domain));
}

function assignSubmission(slot: ReviewerSlot, submission: SubmissionSlot): void {
  slot.planned.push(submission);
  slot.load += 1;
  slot.room -= 1;
  submission.barred.add(slot.reviewerId);
}

function unassignSubmission(slot: ReviewerSlot, submission: SubmissionSlot): void {
  slot.planned.splice(slot.planned.indexOf(submission), 1);
  slot.load -= 1;
  slot.room += 1;
  submission.barred.delete(slot.reviewerId);
}

/** Ids of reviewers by submission. */
type PairSet = Map<string, Set<string>>;

function createPairSet(list: readonly Pair[]): PairSet {
  const pairs: PairSet = new Map();
  for (const pair of list) addPair(pairs, pair);
  return pairs;
}

function addPair(pairs: PairSet, { submissionId, reviewerId }: Pair): void {
  const reviewers = pairs.get(submissionId);
  if (reviewers) reviewers.add(reviewerId);
  else pairs.set(submissionId, new Set([reviewerId]));
}

function containsPair(pairs: PairSet, { submissionId, reviewerId }: Pair): boolean {
  return pairs.get(submissionId)?.has(reviewerId) ?? false;
}

function countBy<T>(items: readonly T[], getKey: (item: T) => string): Map<string, number> {
  const counts = new Map<string, number>();
  for (const item of items) counts.set(getKey(item), (counts.get(getKey(item)) ?? 0) + 1);
  return counts;
}

/** Compares code units, which gives the same order on every machine. */
function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
