import type { Assignment, AssignmentOutcome, AssignmentStatus, SkipReason } from "../contract/assignments.ts";
import { problem, validationProblem } from "../contract/errors.ts";
import { limits } from "../contract/limits.ts";
import type { AssignmentRules } from "../contract/programs.ts";
import type { Reviewer, ReviewerStatus } from "../contract/reviewers.ts";

/** What `incomplete` means (specification 4.4). */
export const incompleteStatuses = ["assigned", "accepted", "conflict"] as const satisfies readonly AssignmentStatus[];

/** Statuses in which a reviewer has the work on the portal or did it: what counts as load. */
export const heldStatuses = [...incompleteStatuses, "completed"] as const satisfies readonly AssignmentStatus[];

/** Statuses from which a review came or is still to come. */
const reviewingStatuses: ReadonlySet<AssignmentStatus> = new Set(["assigned", "accepted", "completed"]);
const held: ReadonlySet<AssignmentStatus> = new Set(heldStatuses);

/** Statuses from which an assignment can be removed, moved to somebody else, answered, attested and reviewed. */
const assignmentMoves = {
  delete: incompleteStatuses,
  reassign: [...incompleteStatuses, "declined"],
  accept: ["assigned"],
  decline: ["assigned", "accepted"],
  attest: incompleteStatuses,
  review: ["assigned", "accepted"],
} as const satisfies Record<string, readonly AssignmentStatus[]>;

/**
 * Checks that an operation may start from an assignment as it is.
 * @throws Problem `invalid_state_transition` with the statuses that allow it
 */
export function checkAssignmentMove(
  operation: keyof typeof assignmentMoves,
  { status, active }: Pick<Assignment, "status" | "active">,
): void {
  const allowedFrom: readonly AssignmentStatus[] = assignmentMoves[operation];
  if (active && allowedFrom.includes(status)) return;
  const because = active ? {} : { because: "the assignment is not active" };
  throw problem("invalid_state_transition", { from: status, operation, allowedFrom, ...because });
}

/** What an assignment shows once it is no longer active; a declined one stays declined. */
export function toEndedAssignment(status: AssignmentStatus, now: string) {
  return { status: status === "declined" ? status : ("cancelled" as const), active: false, removedAt: now };
}

export interface Pair {
  readonly submissionId: string;
  readonly reviewerId: string;
}

/** A pair with the arguments that name its two sides. */
export interface RequestedPair extends Pair {
  readonly submissionPath: string;
  readonly reviewerPath: string;
}

interface BulkRequest {
  readonly pairs?: readonly Pair[] | undefined;
  readonly submissionIds?: readonly string[] | undefined;
  readonly reviewerIds?: readonly string[] | undefined;
}

/**
 * The pairs that a bulk request asks for, in its order: `pairs`, or every combination of the two lists.
 * @throws Problem `validation_failed` unless exactly one of the two forms is given, none is empty and there are at most 500
 */
export function listRequestedPairs({ pairs, submissionIds, reviewerIds }: BulkRequest): RequestedPair[] {
  const given = { submissionIds, reviewerIds, pairs };
  const paths = Object.keys(given).filter((path) => given[path as keyof BulkRequest] !== undefined);
  const refuse = (code: string, message: string, at: readonly string[]) =>
    validationProblem(...at.map((path) => ({ path, code, message })));

  const onlyOne = "Give either pairs, or submissionIds with reviewerIds";
  if (paths.length === 0) throw refuse("required", onlyOne, Object.keys(given));
  if (pairs && paths.length > 1) throw refuse("conflicting", onlyOne, paths);
  if (!pairs && paths.length === 1) {
    throw refuse("required", onlyOne, submissionIds ? ["reviewerIds"] : ["submissionIds"]);
  }
  const empty = paths.filter((path) => given[path as keyof BulkRequest]?.length === 0);
  if (empty.length > 0) throw refuse("too_small", "Expected at least one item", empty);
  if ((submissionIds ?? []).length * (reviewerIds ?? []).length > limits.bulkAssignments) {
    throw refuse("too_big", `Expected at most ${limits.bulkAssignments} combinations`, paths);
  }
  if (pairs) {
    return pairs.map(({ submissionId, reviewerId }, index) => ({
      submissionId,
      reviewerId,
      submissionPath: `pairs.${index}.submissionId`,
      reviewerPath: `pairs.${index}.reviewerId`,
    }));
  }
  return (submissionIds ?? []).flatMap((submissionId, row) =>
    (reviewerIds ?? []).map((reviewerId, column) => ({
      submissionId,
      reviewerId,
      submissionPath: `submissionIds.${row}`,
      reviewerPath: `reviewerIds.${column}`,
    })),
  );
}

/** What the planner reads of an assignment made earlier. */
export type PastAssignment = Pick<
  Assignment,
  "submissionId" | "reviewerId" | "roundId" | "status" | "active" | "conflictAttestation"
>;

/** What is to be assigned, and what is not and why. */
export interface Plan {
  readonly assign: readonly Pair[];
  readonly skipped: readonly (Pair & { readonly reason: SkipReason })[];
  /** The lists that were cut, and after how many rows. */
  readonly truncated: NonNullable<AssignmentOutcome["truncated"]>;
}

/**
 * Sorts named pairs into those that can be assigned in a round and those that cannot, in their order.
 * `past`: the assignments between these submissions and reviewers, of any round, removed ones too.
 */
export function planPairs(
  pairs: readonly Pair[],
  statuses: ReadonlyMap<string, ReviewerStatus>,
  past: readonly PastAssignment[],
  roundId: string,
): Plan {
  const conflicts = createPairSet(past.filter(isConflict));
  const taken = createPairSet(past.filter((earlier) => earlier.active && earlier.roundId === roundId));
  const assign: Pair[] = [];
  const skipped: (Pair & { reason: SkipReason })[] = [];
  const findSkipReason = (pair: Pair): SkipReason | undefined => {
    const status = statuses.get(pair.reviewerId);
    if (status !== "active" && status !== "invited") return "reviewer_inactive";
    if (containsPair(conflicts, pair)) return "conflict_of_interest";
    return containsPair(taken, pair) ? "duplicate" : undefined;
  };
  for (const { submissionId, reviewerId } of pairs) {
    const pair = { submissionId, reviewerId };
    const reason = findSkipReason(pair);
    if (reason) skipped.push({ ...pair, reason });
    else {
      assign.push(pair);
      add(taken, pair);
    }
  }
  return { assign, skipped, truncated: [] };
}

/** Most assignments that one run makes; the next run goes on where it stopped. */
export const maxPlanned = 10_000;
/** Most conflicts of interest that one run names. */
export const maxSkipped = 1000;

export interface PlanInput {
  readonly roundId: string;
  /** Rounds before this one in its track. */
  readonly earlierRoundIds: ReadonlySet<string>;
  readonly rules: AssignmentRules;
  /** `domains`: see {@link listDomains}. */
  readonly submissions: readonly { readonly submissionId: string; readonly domains: readonly string[] }[];
  /** Candidates: active reviewers of the round. */
  readonly reviewers: readonly Pick<Reviewer, "reviewerId" | "expertise" | "maxAssignments">[];
  /** Every assignment of the track, of any round, removed ones too. */
  readonly past: readonly PastAssignment[];
  /** How many assignments each reviewer holds, wherever they are. */
  readonly held: ReadonlyMap<string, number>;
}

/** A reviewer while the plan is made. `load` and `room` count assignments: had in this round, and still possible. */
interface ReviewerSlot {
  readonly reviewerId: string;
  readonly expertise: ReadonlySet<string>;
  readonly planned: SubmissionSlot[];
  load: number;
  room: number;
}

/** A submission while the plan is made, with the reviewers who may not (or need not) get it. */
interface SubmissionSlot {
  readonly submissionId: string;
  readonly domains: readonly string[];
  readonly barred: Set<string>;
  reviews: number;
}

/**
 * Plans a round's assignments: submissions with the fewest reviews first, to the least loaded reviewer (ties by id) who
 * may review them, until each has `reviewsPerSubmission`. Never a conflict of interest, a second time the same pair, a
 * reviewer who declined the submission in this round, or more than `maxPerReviewer` in the round or `maxAssignments` in
 * all. With expertise matching, a reviewer without the submission's expertise only where none with it is free.
 * `skipped` names the conflicts of interest among the candidates of submissions that stay short of reviews,
 * the first thousand of them. The same input in any order gives the same plan.
 */
export function planAssignments(input: PlanInput): Plan {
  const { rules, past, roundId } = input;
  const inRound = past.filter((earlier) => earlier.roundId === roundId && earlier.active);
  const conflicts = createPairSet(past.filter(isConflict));
  const slots = createReviewerSlots(input, inRound);
  const submissions = createSubmissionSlots(input, inRound, conflicts);
  distribute(submissions, slots, rules.reviewsPerSubmission);
  balance(slots);
  const short = submissions.filter((submission) => submission.reviews < rules.reviewsPerSubmission);
  const planned = slots.flatMap(({ reviewerId, planned: given }) =>
    given.map(({ submissionId }) => ({ submissionId, reviewerId })),
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

/** A submission's value of the field that names its domain, ready to compare with reviewers' expertise. */
export function listDomains(fields: Readonly<Record<string, unknown>>, domainFieldId: string): string[] {
  const value = Object.hasOwn(fields, domainFieldId) ? fields[domainFieldId] : undefined;
  return [value]
    .flat()
    .filter((domain) => typeof domain === "string")
    .map(normalizeDomain);
}

function normalizeDomain(domain: string): string {
  return domain.trim().toLowerCase();
}

function createReviewerSlots(
  { reviewers, rules, held: heldBy }: PlanInput,
  inRound: readonly PastAssignment[],
): ReviewerSlot[] {
  const loads = countBy(
    inRound.filter(({ status }) => held.has(status)),
    ({ reviewerId }) => reviewerId,
  );
  return reviewers
    .map(({ reviewerId, expertise, maxAssignments }) => {
      const load = loads.get(reviewerId) ?? 0;
      const roomInRound = (rules.maxPerReviewer ?? Number.POSITIVE_INFINITY) - load;
      const roomInAll = (maxAssignments ?? Number.POSITIVE_INFINITY) - (heldBy.get(reviewerId) ?? 0);
      return {
        reviewerId,
        expertise: new Set(expertise.map(normalizeDomain)),
        planned: [],
        load,
        room: Math.min(roomInRound, roomInAll),
      };
    })
    .toSorted((a, b) => compare(a.reviewerId, b.reviewerId));
}

function createSubmissionSlots(
  input: PlanInput,
  inRound: readonly PastAssignment[],
  conflicts: Pairs,
): SubmissionSlot[] {
  const { rules, past, roundId, earlierRoundIds } = input;
  const reviews = countBy(
    inRound.filter(({ status }) => reviewingStatuses.has(status)),
    ({ submissionId }) => submissionId,
  );
  const taken = createPairSet(inRound);
  const declined = createPairSet(
    past.filter((earlier) => earlier.roundId === roundId && earlier.status === "declined"),
  );
  const reviewed = createPairSet(
    past.filter((earlier) => earlier.status === "completed" && earlierRoundIds.has(earlier.roundId)),
  );
  const bars = [conflicts, taken, declined, ...(rules.excludePriorRoundReviewers ? [reviewed] : [])];
  return input.submissions
    .map(({ submissionId, domains }) => ({
      submissionId,
      domains: rules.useExpertiseMatching ? domains : [],
      barred: new Set(bars.flatMap((pairs) => [...(pairs.get(submissionId) ?? [])])),
      reviews: reviews.get(submissionId) ?? 0,
    }))
    .toSorted((a, b) => compare(a.submissionId, b.submissionId));
}

/** Gives papers out in turns, so that where reviewers are scarce no submission gets its second before all had a first. */
function distribute(submissions: readonly SubmissionSlot[], slots: readonly ReviewerSlot[], target: number): void {
  let left = maxPlanned;
  let open = submissions.filter((submission) => submission.reviews < target);
  while (open.length > 0 && left > 0) {
    const fewest = open.reduce((least, submission) => Math.min(least, submission.reviews), target);
    const stillOpen: SubmissionSlot[] = [];
    for (const submission of open) {
      if (submission.reviews === fewest) {
        const slot = left > 0 ? (choose(slots, submission) ?? freeReviewer(slots, submission)) : undefined;
        if (!slot) continue;
        give(slot, submission);
        submission.reviews += 1;
        left -= 1;
      }
      if (submission.reviews < target) stillOpen.push(submission);
    }
    open = stillOpen;
  }
}

/** The free reviewer with the submission's expertise, then with the least load, then with the lowest id. */
function choose(slots: readonly ReviewerSlot[], submission: SubmissionSlot): ReviewerSlot | undefined {
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

/** A full reviewer who may review the paper, freed by moving one of the planned papers to somebody with room. */
function freeReviewer(slots: readonly ReviewerSlot[], submission: SubmissionSlot): ReviewerSlot | undefined {
  const free = slots.filter(({ room }) => room > 0);
  return slots.find((slot) => !submission.barred.has(slot.reviewerId) && free.some((other) => move(slot, other)));
}

/**
 * Turns can leave a reviewer behind whose only papers left were barred: moves planned papers from fuller desks to
 * emptier ones until no such move evens out loads. Every move lowers the sum of their squares.
 */
function balance(slots: readonly ReviewerSlot[]): void {
  for (let moved = true; moved; ) {
    moved = false;
    for (const full of slots) {
      for (const empty of slots) {
        while (full.load - empty.load >= 2 && move(full, empty)) moved = true;
      }
    }
  }
}

/** Moves a planned paper to another desk that suits it as well; false where there is none. */
function move(from: ReviewerSlot, to: ReviewerSlot): boolean {
  const submission = from.planned.find((each) => canReview(to, each) && isExpert(to, each) === isExpert(from, each));
  if (!submission) return false;
  take(from, submission);
  give(to, submission);
  return true;
}

function canReview(slot: ReviewerSlot, submission: SubmissionSlot): boolean {
  return slot.room > 0 && !submission.barred.has(slot.reviewerId);
}

function isExpert(slot: ReviewerSlot, submission: SubmissionSlot): boolean {
  return submission.domains.some((domain) => slot.expertise.has(domain));
}

function give(slot: ReviewerSlot, submission: SubmissionSlot): void {
  slot.planned.push(submission);
  slot.load += 1;
  slot.room -= 1;
  submission.barred.add(slot.reviewerId);
}

function take(slot: ReviewerSlot, submission: SubmissionSlot): void {
  slot.planned.splice(slot.planned.indexOf(submission), 1);
  slot.load -= 1;
  slot.room += 1;
  submission.barred.delete(slot.reviewerId);
}

function isConflict({ status, conflictAttestation }: PastAssignment): boolean {
  return status === "conflict" || conflictAttestation?.hasConflict === true;
}

/** Reviewers by submission. */
type Pairs = Map<string, Set<string>>;

function createPairSet(list: readonly Pair[]): Pairs {
  const pairs: Pairs = new Map();
  for (const pair of list) add(pairs, pair);
  return pairs;
}

function add(pairs: Pairs, { submissionId, reviewerId }: Pair): void {
  const reviewers = pairs.get(submissionId);
  if (reviewers) reviewers.add(reviewerId);
  else pairs.set(submissionId, new Set([reviewerId]));
}

function containsPair(pairs: Pairs, { submissionId, reviewerId }: Pair): boolean {
  return pairs.get(submissionId)?.has(reviewerId) ?? false;
}

function countBy<T>(items: readonly T[], keyOf: (item: T) => string): Map<string, number> {
  const counts = new Map<string, number>();
  for (const item of items) counts.set(keyOf(item), (counts.get(keyOf(item)) ?? 0) + 1);
  return counts;
}

/** By code units: the same order on every machine. */
function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
