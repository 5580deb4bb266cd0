import { isWorkload, listAssignments, type ModelReviewer, type ModelSubmission, type ModelTenant } from "./tenant.ts";

/** The rules of one automatic assignment. */
export interface PlanRules {
  readonly roundId: string;
  readonly reviewsPerSubmission: number;
  /** Reviewers with the expertise of a submission's domain go first. */
  readonly matchesExpertise: boolean;
}

export interface PlannedPair {
  readonly submissionId: string;
  readonly reviewerId: string;
}

interface Round {
  readonly rules: PlanRules;
  readonly submissions: readonly ModelSubmission[];
  readonly candidates: readonly ModelReviewer[];
  /** Reviews of submissions, expected or done, before and after the plan. A reviewer in conflict will not write one. */
  readonly reviewsBefore: readonly PlannedPair[];
  readonly reviewsAfter: readonly PlannedPair[];
  /** Work of reviewers before and after the plan. */
  readonly workBefore: readonly PlannedPair[];
  readonly workAfter: readonly PlannedPair[];
  /** Pairs that cannot be planned: those who are assigned, and those who declined. */
  readonly taken: readonly PlannedPair[];
  readonly hasConflict: (pair: PlannedPair) => boolean;
  readonly maxPerReviewer: number;
}

/**
 * Returns the rules that planned pairs break. It does not plan itself: more than one plan can follow the rules.
 */
export function findPlanFaults(tenant: ModelTenant, rules: PlanRules, planned: readonly PlannedPair[]): string[] {
  const round = describePlannedRound(tenant, rules, planned);
  return [
    ...planned.flatMap((pair) => findPairFaults(round, pair)),
    ...findCountFaults(round),
    ...findBalanceFaults(round, planned),
    ...(rules.matchesExpertise ? findExpertiseFaults(round, planned) : []),
  ];
}

/** Lists the conflicts of interest that keep reviewers of the round from submissions with too few reviews. */
export function listHinderingConflicts(tenant: ModelTenant, rules: PlanRules, planned: readonly PlannedPair[]) {
  const round = describePlannedRound(tenant, rules, planned);
  const pairs = round.submissions
    .filter(({ submissionId }) => countIn(round.reviewsAfter, { submissionId }) < rules.reviewsPerSubmission)
    .flatMap(({ submissionId }) => round.candidates.map(({ reviewerId }) => ({ submissionId, reviewerId })));
  return pairs.filter(round.hasConflict).map((pair) => ({ ...pair, reason: "conflict_of_interest" }));
}

export function hasDeclaredConflict({ fixed }: ModelTenant, pair: PlannedPair): boolean {
  return fixed.people.attestations.some((each) => each["hasConflict"] === true && isSamePair(each, pair));
}

function describePlannedRound(tenant: ModelTenant, rules: PlanRules, planned: readonly PlannedPair[]): Round {
  const { roundId } = rules;
  const inRound = listAssignments(tenant).filter((each) => each.roundId === roundId);
  const workBefore = inRound.filter(isWorkload);
  const reviewsBefore = workBefore.filter(({ status }) => status !== "conflict");
  const taken = inRound.filter(({ active, status }) => active || status === "declined");
  return {
    rules,
    submissions: tenant.submissions.filter((each) => each.state === "IN_REVIEW" && each.currentRoundId === roundId),
    candidates: tenant.reviewers.filter(({ status, roundIds }) => status === "active" && roundIds.includes(roundId)),
    reviewsBefore,
    reviewsAfter: [...reviewsBefore, ...planned],
    workBefore,
    workAfter: [...workBefore, ...planned],
    taken: [...taken, ...planned],
    hasConflict: (pair) => hasDeclaredConflict(tenant, pair),
    maxPerReviewer: tenant.fixed.maxPerReviewer ?? Number.POSITIVE_INFINITY,
  };
}

function findPairFaults({ submissions, candidates, taken, hasConflict }: Round, pair: PlannedPair): string[] {
  const faults = {
    "not a submission of the round": !submissions.some(({ submissionId }) => submissionId === pair.submissionId),
    "not an active reviewer of the round": !candidates.some(({ reviewerId }) => reviewerId === pair.reviewerId),
    "a conflict of interest": hasConflict(pair),
    "assigned twice": countIn(taken, pair) > 1,
  };
  return Object.entries(faults).flatMap(([fault, is]) => (is ? `${fault}: ${JSON.stringify(pair)}` : []));
}

/** No submission gets too many reviews, no reviewer too many submissions, and none is left out who could be chosen. */
function findCountFaults(round: Round): string[] {
  const { rules, submissions, candidates, reviewsBefore, reviewsAfter, workBefore, workAfter, maxPerReviewer } = round;
  const excess = submissions.filter(({ submissionId }) => {
    const most = Math.max(rules.reviewsPerSubmission, countIn(reviewsBefore, { submissionId }));
    return countIn(reviewsAfter, { submissionId }) > most;
  });
  const overloaded = candidates.filter(({ reviewerId }) => {
    return countIn(workAfter, { reviewerId }) > Math.max(maxPerReviewer, countIn(workBefore, { reviewerId }));
  });
  const short = submissions
    .filter(({ submissionId }) => countIn(reviewsAfter, { submissionId }) < rules.reviewsPerSubmission)
    .filter(({ submissionId }) => candidates.some(({ reviewerId }) => isFree(round, { submissionId, reviewerId })));
  return [
    ...excess.map(({ submissionId }) => `too many reviews: ${submissionId}`),
    ...overloaded.map(({ reviewerId }) => `too many submissions: ${reviewerId}`),
    ...short.map(({ submissionId }) => `too few reviews: ${submissionId}`),
  ];
}

/** No planned submission could go to a reviewer with at least two fewer, who suits it as well. */
function findBalanceFaults(round: Round, planned: readonly PlannedPair[]): string[] {
  const { candidates, workAfter } = round;
  const countOf = (reviewerId: string) => countIn(workAfter, { reviewerId });
  return planned.flatMap(({ submissionId, reviewerId }) =>
    candidates
      .filter((other) => countOf(reviewerId) - countOf(other.reviewerId) >= 2)
      .filter((other) => isFree(round, { submissionId, reviewerId: other.reviewerId }))
      .filter((other) => isExpert(round, submissionId, other.reviewerId) === isExpert(round, submissionId, reviewerId))
      .map((other) => `${submissionId} could go from ${reviewerId} to ${other.reviewerId}`),
  );
}

/** Nobody without expertise gets a submission that an expert could have. Evening out a limit can break this rule. */
function findExpertiseFaults(round: Round, planned: readonly PlannedPair[]): string[] {
  if (round.maxPerReviewer !== Number.POSITIVE_INFINITY) return [];
  return planned
    .filter(({ submissionId, reviewerId }) => !isExpert(round, submissionId, reviewerId))
    .filter(({ submissionId }) =>
      round.candidates.some(
        ({ reviewerId }) => isExpert(round, submissionId, reviewerId) && isFree(round, { submissionId, reviewerId }),
      ),
    )
    .map((pair) => `an expert is free: ${JSON.stringify(pair)}`);
}

/** Returns whether a reviewer could still get a submission after the plan. */
function isFree({ taken, workAfter, hasConflict, maxPerReviewer }: Round, pair: PlannedPair): boolean {
  if (hasConflict(pair) || countIn(taken, pair) > 0) return false;
  return countIn(workAfter, { reviewerId: pair.reviewerId }) < maxPerReviewer;
}

function isExpert({ rules, submissions, candidates }: Round, submissionId: string, reviewerId: string): boolean {
  if (!rules.matchesExpertise) return false;
  const domain = submissions.find((each) => each.submissionId === submissionId)?.domain;
  const expertise = candidates.find((each) => each.reviewerId === reviewerId)?.expertise ?? [];
  return expertise.some((each) => each.toLowerCase() === domain);
}

function countIn(pairs: readonly PlannedPair[], wanted: Partial<PlannedPair>): number {
  return pairs.filter((pair) => isSamePair(pair, { ...pair, ...wanted })).length;
}

function isSamePair(one: Readonly<Record<string, unknown>> | PlannedPair, other: PlannedPair): boolean {
  const { submissionId, reviewerId } = one as PlannedPair;
  return submissionId === other.submissionId && reviewerId === other.reviewerId;
}
