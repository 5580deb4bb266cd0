import { sensitiveScope } from "../contract/access/scopes.ts";
import { type Assignment, ConflictKind } from "../contract/assignments.ts";
import { problem, validationProblem } from "../contract/errors.ts";
import type { AssignmentRules } from "../contract/programs.ts";
import type { Reviewer } from "../contract/reviewers.ts";
import type { Submission } from "../contract/submissions.ts";
import type { ReviewerCandidate } from "../contract/workflows/reviewer-candidates.ts";
import { computeRoom, listDomains, listMatchingExpertise } from "../domain/assignment-plan.ts";
import { workloadStatuses } from "../domain/assignments.ts";
import { type ConflictParty, listConflicts } from "../domain/conflicts.ts";
import { formatReviewerName } from "../domain/reviewers.ts";
import { createRanking } from "../domain/workflows/ranking.ts";
import { isOpenAssignment } from "../domain/workflows/review-progress.ts";
import type { RecordSource, WorkflowRunner } from "../upstream/port.ts";
import { compareText, getOrAdd } from "./collections.ts";
import { listRounds } from "./rounds.ts";

type Scope = Parameters<WorkflowRunner<"list_reviewer_candidates">>[1];

export const list_reviewer_candidates: WorkflowRunner<"list_reviewer_candidates"> = async (source, input) => {
  const { programId, roundId, submissionIds, limit } = input;
  const rounds = await source.ifPermitted("name of the round", () => listRounds(source, { programId, roundId }));
  if (rounds?.length === 0) throw problem("not_found");
  const round = rounds?.[0];
  const program = await source.ifPermitted("assignment rules", () => source.get("get_program", { programId }));
  const rules = program?.assignmentRules;
  const submissions: CandidateSubmission[] = [];
  const home = { programId, trackId: round?.trackId };
  for (const submissionId of new Set(submissionIds)) {
    submissions.push(await loadSubmission(source, home, submissionId, rules?.domainFieldId ?? null));
  }
  const reviewers = await loadReviewers(source, input);
  const loads = await source.ifPermitted("open reviews, room and declines", () => countLoads(source, input));
  const shown = source.truncate("candidates of each submission", reviewers, limit).length;
  return {
    programId,
    roundId,
    name: round?.name ?? null,
    track: round?.track ?? null,
    submissions: submissions.map((submission) => {
      const ranking = createRanking<ReviewerCandidate>(shown, (a, b) =>
        compareCandidates(a, b, rules?.excludePriorRoundReviewers ?? false),
      );
      for (const reviewer of reviewers) {
        ranking.add(createCandidate(reviewer, submission, { roundId, rules, loads }));
      }
      const { submissionId, title } = submission;
      return { submissionId, title, candidates: ranking.list() };
    }),
  };
};

type PastAssignment = Pick<Assignment, "reviewerId" | "roundId" | "status" | "active" | "conflictAttestation">;

/** The known facts of a submission. */
interface CandidateSubmission {
  readonly submissionId: string;
  readonly title: string | null;
  readonly applicant: ConflictParty;
  /** Undefined if the submission names none, or the token may not read it. */
  readonly domains: readonly string[] | undefined;
  /** The submission's assignments of all rounds by reviewer, removed ones included. */
  readonly past: ReadonlyMap<string, readonly PastAssignment[]> | undefined;
}

/** @throws Problem `not_found` in another programme, `validation_failed` in another track than the round's */
async function loadSubmission(
  source: RecordSource,
  { programId, trackId }: { readonly programId: string; readonly trackId: string | undefined },
  submissionId: string,
  domainFieldId: string | null,
): Promise<CandidateSubmission> {
  const submission = await source.ifPermitted("titles, domains and applicants of submissions", () =>
    source.get("get_submission", { submissionId }),
  );
  if (submission && submission.programId !== programId) throw problem("not_found");
  if (submission && trackId !== undefined && submission.trackId !== trackId) {
    const message = `${submissionId} belongs to another track than the round`;
    throw validationProblem({ path: "submissionIds", code: "invalid_value", message });
  }
  const answered = submission && domainFieldId ? listDomains(submission.fields, domainFieldId) : [];
  const domains = answered.filter((domain) => domain !== "");
  const past = await source.ifPermitted("assignments and declared conflicts of submissions", () =>
    loadPastAssignments(source, submissionId),
  );
  return {
    submissionId,
    title: submission?.title ?? null,
    applicant: submission ? await loadApplicant(source, submission) : {},
    domains: domains.length > 0 ? domains : undefined,
    past: past && Map.groupBy(past, ({ reviewerId }) => reviewerId),
  };
}

async function loadPastAssignments(source: RecordSource, submissionId: string): Promise<PastAssignment[]> {
  const past: PastAssignment[] = [];
  const fields = ["reviewerId", "roundId", "status", "active", "conflictAttestation"] as const;
  const filter = { submissionId, includeInactive: true };
  for await (const batch of source.list("list_assignments", filter, fields)) past.push(...batch);
  return past;
}

async function loadApplicant(source: RecordSource, submission: Submission): Promise<ConflictParty> {
  const { innovatorEmail: email, applicantPersonId: personId } = submission;
  if (personId === null) return { email };
  const person = await source.ifPermitted("organizations of applicants", () => {
    source.requireScope(sensitiveScope);
    return source.get("get_person", { personId });
  });
  return { email, personId, organization: person?.contactDetails?.organization };
}

const reviewerFields = [
  "reviewerId",
  "email",
  "firstName",
  "lastName",
  "affiliation",
  "expertise",
  "personId",
  "maxAssignments",
  "assignmentCounts",
] as const;
type CandidateReviewer = Pick<Reviewer, (typeof reviewerFields)[number]>;

async function loadReviewers(source: RecordSource, { programId, roundId }: Scope): Promise<CandidateReviewer[]> {
  const reviewers: CandidateReviewer[] = [];
  const filter = { programId, roundId, status: "active" } as const;
  for await (const batch of source.list("list_reviewers", filter, reviewerFields)) reviewers.push(...batch);
  return reviewers;
}

/** Counts of a reviewer's assignments in the round. */
interface Load {
  open: number;
  /** Reviews that are expected or done. */
  total: number;
  declined: number;
}

function createLoad(): Load {
  return { open: 0, total: 0, declined: 0 };
}

async function countLoads(source: RecordSource, { programId, roundId }: Scope): Promise<ReadonlyMap<string, Load>> {
  const loads = new Map<string, Load>();
  const filter = { programId, roundId, includeInactive: true };
  const fields = ["reviewerId", "status", "active"] as const;
  for await (const batch of source.list("list_assignments", filter, fields)) {
    for (const { reviewerId, status, active } of batch) {
      const load = getOrAdd(loads, reviewerId, createLoad);
      if (status === "declined") load.declined += 1;
      if (active && isOpenAssignment({ status })) load.open += 1;
      if (active && (workloadStatuses as readonly string[]).includes(status)) load.total += 1;
    }
  }
  return loads;
}

interface RoundFacts {
  readonly roundId: string;
  readonly rules: AssignmentRules | undefined;
  readonly loads: ReadonlyMap<string, Load> | undefined;
}

function createCandidate(
  reviewer: CandidateReviewer,
  { applicant, domains, past }: CandidateSubmission,
  { roundId, rules, loads }: RoundFacts,
): ReviewerCandidate {
  const { reviewerId, email, affiliation, personId, expertise, maxAssignments, assignmentCounts } = reviewer;
  const own = past?.get(reviewerId) ?? [];
  const load = loads && (loads.get(reviewerId) ?? createLoad());
  const room = computeRoom(
    load ? (rules?.maxPerReviewer ?? null) : null,
    load?.total ?? 0,
    maxAssignments,
    assignmentCounts.assigned,
  );
  return {
    reviewerId,
    name: formatReviewerName(reviewer),
    affiliation,
    matchingExpertise: domains ? listMatchingExpertise(expertise, domains) : null,
    open: load?.open ?? null,
    room: room === Number.POSITIVE_INFINITY ? null : Math.max(0, room),
    assigned: own.find((each) => each.active && each.roundId === roundId)?.status ?? null,
    reviewedBefore: past ? own.some((each) => each.status === "completed" && each.roundId !== roundId) : null,
    declined: load?.declined ?? null,
    conflicts: listConflicts({ email, personId, organization: affiliation }, applicant, own),
  };
}

/**
 * Compares candidates for a submission, best first: those who can be assigned; then without conflicts or with the least
 * serious one, with room, not excluded by an earlier review, with matching expertise, with the fewest open reviews, with
 * the fewest declined ones; then by id.
 */
function compareCandidates(a: ReviewerCandidate, b: ReviewerCandidate, excludesPriorReviewers: boolean): number {
  const first = listPenalties(a, excludesPriorReviewers);
  const second = listPenalties(b, excludesPriorReviewers);
  const differing = first.findIndex((penalty, index) => penalty !== second[index]);
  if (differing === -1) return compareText(a.reviewerId, b.reviewerId);
  return (first[differing] ?? 0) - (second[differing] ?? 0);
}

function listPenalties(candidate: ReviewerCandidate, excludesPriorReviewers: boolean): readonly number[] {
  const [worst] = candidate.conflicts;
  return [
    candidate.assigned !== null || worst === "declared_conflict" ? 1 : 0,
    worst === undefined ? 0 : ConflictKind.options.length - ConflictKind.options.indexOf(worst),
    candidate.room === 0 ? 1 : 0,
    excludesPriorReviewers && candidate.reviewedBefore ? 1 : 0,
    candidate.matchingExpertise?.length === 0 ? 1 : 0,
    candidate.open ?? 0,
    candidate.declined ?? 0,
  ];
}
