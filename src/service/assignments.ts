import { limits } from "../contract/access/limits.ts";
import type { Assignment, SkipReason } from "../contract/assignments.ts";
import { problem, validationProblem } from "../contract/errors.ts";
import type { Input } from "../contract/index.ts";
import type { AssignmentRules, Program, Round } from "../contract/programs.ts";
import {
  type AssignmentPlan,
  listDomains,
  type PastAssignment,
  planAssignments,
  planPairs,
} from "../domain/assignment-plan.ts";
import {
  checkAssignmentTransition,
  incompleteStatuses,
  listRequestedPairs,
  type Pair,
  type RequestedPair,
  toEndedAssignment,
  workloadStatuses,
} from "../domain/assignments.ts";
import { pickKeys } from "../domain/patch.ts";
import { createFieldSuggester } from "../domain/unknown-fields.ts";
import type { Handler, WriteContext } from "../store/handler-context.ts";
import type { Query, Reader } from "../store/port.ts";
import type { Row } from "../store/tables.ts";
import { loadForm } from "./forms.ts";
import { getOrThrow, loadWritableProgram, requireVersion } from "./guards.ts";

export const list_assignments: Handler<"list_assignments"> = ({ store }, input) => {
  const { status, includeInactive, limit, lastEvaluatedKey, ...where } = input;
  const statuses = status === "incomplete" ? incompleteStatuses : status;
  const active = includeInactive ? undefined : true;
  return store.page("assignments", { where: { ...where, status: statuses, active } }, "newest", {
    limit,
    lastEvaluatedKey,
  });
};

export const delete_assignment: Handler<"delete_assignment"> = async ({ store, now }, { assignmentId }) => {
  const assignment = await getOrThrow(store, "assignments", assignmentId);
  await loadWritableProgram(store, assignment.programId);
  checkAssignmentTransition("delete", assignment);
  return store.update("assignments", assignment, toEndedAssignment(assignment.status, now));
};

export const reassign_assignment: Handler<"reassign_assignment"> = async (context, input) => {
  const { store, now } = context;
  const assignment = await getOrThrow(store, "assignments", input.assignmentId);
  requireVersion(assignment, input.version);
  const { round } = await loadWritableRound(store, assignment.roundId);
  checkAssignmentTransition("reassign", assignment);
  if (input.newReviewerId === assignment.reviewerId)
    throw createUnsuitableProblem("The assignment is this reviewer's already");
  const reviewer = await getOrThrow(store, "reviewers", input.newReviewerId);
  const pair = { submissionId: assignment.submissionId, reviewerId: reviewer.reviewerId };
  const past = await loadPastAssignments(store, { where: pair });
  const { skipped } = planPairs([pair], new Map([[reviewer.reviewerId, reviewer.status]]), past, round.roundId);
  for (const { reason } of skipped) throw createUnsuitableProblem(skipMessages[reason]);
  await store.update("assignments", assignment, toEndedAssignment(assignment.status, now));
  return createAssignment(
    context,
    round,
    { ...pickKeys(assignment, "trackId", "submissionId"), reviewerId: reviewer.reviewerId },
    {
      source: "reassign",
      reassignedFromId: assignment.assignmentId,
      reason: input.reason ?? null,
    },
  );
};

const skipMessages: Readonly<Record<SkipReason, string>> = {
  reviewer_inactive: "The reviewer declined or is inactive",
  conflict_of_interest: "The reviewer has a conflict of interest with this submission",
  duplicate: "The reviewer has this submission in this round already",
};

export const auto_assign_reviewers: Handler<"auto_assign_reviewers"> = async (context, input) => {
  const { store } = context;
  const { round, program } = await loadWritableRound(store, input.roundId);
  const rules = applyRuleArguments(program, input);
  if (input.domainFieldId) await requireFormField(store, round, input.domainFieldId);
  const domainFieldId = rules.useExpertiseMatching ? rules.domainFieldId : null;
  const submissions: { submissionId: string; domains: string[] }[] = [];
  const submissionsInRound = { where: { currentRoundId: round.roundId, state: "IN_REVIEW" as const } };
  for await (const { submissionId, fields } of store.scan("submissions", submissionsInRound, [
    "submissionId",
    "fields",
  ])) {
    submissions.push({ submissionId, domains: domainFieldId ? listDomains(fields, domainFieldId) : [] });
  }
  const reviewers: Row<"reviewers">[] = [];
  const candidates = { where: { status: "active" as const }, has: { roundIds: round.roundId } };
  for await (const reviewer of store.scan("reviewers", candidates)) reviewers.push(reviewer);
  const limited = reviewers.some(({ maxAssignments }) => maxAssignments !== null);
  const workload = { where: { active: true, status: workloadStatuses } };
  return applyPlan(
    context,
    round,
    "auto",
    planAssignments({
      roundId: round.roundId,
      earlierRoundIds: await loadEarlierRoundIds(store, round),
      rules,
      submissions,
      reviewers,
      past: await loadPastAssignments(store, { where: pickKeys(round, "programId", "trackId") }),
      workloads: limited ? await store.countBy("assignments", "reviewerId", workload) : new Map(),
    }),
  );
};

export const bulk_assign_reviewers: Handler<"bulk_assign_reviewers"> = async (context, input) => {
  const { store } = context;
  const pairs = listRequestedPairs(input);
  const { round } = await loadWritableRound(store, input.roundId);
  const submissionId = [...new Set(pairs.map((pair) => pair.submissionId))];
  const reviewerId = [...new Set(pairs.map((pair) => pair.reviewerId))];
  const submissions = await store.find("submissions", { where: { submissionId } }, { limit: submissionId.length }, [
    "submissionId",
    "state",
    "currentRoundId",
  ]);
  const reviewers = await store.find("reviewers", { where: { reviewerId } }, { limit: reviewerId.length }, [
    "reviewerId",
    "status",
  ]);
  requireRecords(
    pairs,
    new Set(submissions.map((row) => row.submissionId)),
    new Set(reviewers.map((row) => row.reviewerId)),
  );
  for (const submission of submissions) requireInRound(submission, round);
  const statuses = new Map(reviewers.map((reviewer) => [reviewer.reviewerId, reviewer.status]));
  const past = await loadPastOfPairs(store, pairs);
  return applyPlan(context, round, "bulk", planPairs(pairs, statuses, past, round.roundId));
};

/**
 * Returns the programme's assignment rules with the arguments of a request applied.
 * @throws Problem `validation_failed` for expertise matching without a domain field
 */
function applyRuleArguments({ assignmentRules }: Program, input: Input<"auto_assign_reviewers">): AssignmentRules {
  const rules = {
    reviewsPerSubmission: input.reviewsPerSubmission ?? assignmentRules.reviewsPerSubmission,
    useExpertiseMatching: input.useExpertiseMatching ?? assignmentRules.useExpertiseMatching,
    domainFieldId: input.domainFieldId ?? assignmentRules.domainFieldId,
    excludePriorRoundReviewers: input.excludePriorRoundReviewers ?? assignmentRules.excludePriorRoundReviewers,
    maxPerReviewer: assignmentRules.maxPerReviewer,
  };
  if (!rules.useExpertiseMatching || rules.domainFieldId) return rules;
  const message = "Expertise matching needs the field that names a submission's domain";
  throw validationProblem({ path: "domainFieldId", code: "required", message });
}

/** @throws Problem `validation_failed` if the form of a round's track lacks the domain field */
async function requireFormField(store: Reader, { trackId }: Round, domainFieldId: string): Promise<void> {
  const { schemaId, schemaVersion } = await getOrThrow(store, "tracks", trackId);
  const { fields } = await loadForm(store, schemaId, schemaVersion);
  if (fields.some(({ fieldId }) => fieldId === domainFieldId)) return;
  const message = createFieldSuggester(fields)(domainFieldId);
  throw validationProblem({ path: "domainFieldId", code: "unrecognized_keys", message });
}

/**
 * Returns a round that can get assignments, with its programme.
 * @throws Problem `not_found`, `program_archived`, `round_inactive`
 */
async function loadWritableRound(store: Reader, roundId: string): Promise<{ round: Round; program: Program }> {
  const round = await getOrThrow(store, "rounds", roundId);
  const program = await loadWritableProgram(store, round.programId);
  if (!round.active) throw problem("round_inactive", { roundId });
  return { round, program };
}

async function loadEarlierRoundIds(store: Reader, { trackId, sequence }: Round): Promise<Set<string>> {
  const rounds = await store.find(
    "rounds",
    { where: { trackId, sequence: { lt: sequence } } },
    { limit: limits.listedRounds },
  );
  return new Set(rounds.map((round) => round.roundId));
}

/** The columns that the planner reads: a track can have many assignments. */
const pastColumns = ["submissionId", "reviewerId", "roundId", "status", "active", "conflictAttestation"] as const;

async function loadPastAssignments(store: Reader, query: Query<"assignments">): Promise<PastAssignment[]> {
  const past: PastAssignment[] = [];
  for await (const row of store.scan("assignments", query, pastColumns)) past.push(row);
  return past;
}

/** Pairs of one query, so that none takes long. */
const pairsPerQuery = 25;

/** Loads the assignments of exactly these pairs: each of the submissions may have many others. */
async function loadPastOfPairs(store: Reader, pairs: readonly Pair[]): Promise<PastAssignment[]> {
  const distinct = new Map(
    pairs.map(({ submissionId, reviewerId }) => [`${submissionId} ${reviewerId}`, { submissionId, reviewerId }]),
  );
  const wanted = [...distinct.values()];
  const past: PastAssignment[] = [];
  for (let start = 0; start < wanted.length; start += pairsPerQuery) {
    past.push(...(await loadPastAssignments(store, { among: wanted.slice(start, start + pairsPerQuery) })));
  }
  return past;
}

/** @throws Problem `validation_failed` at every argument that names no record */
function requireRecords(pairs: readonly RequestedPair[], submissionIds: Set<string>, reviewerIds: Set<string>): void {
  const unknownPaths = pairs.flatMap(({ submissionId, reviewerId, submissionPath, reviewerPath }) => [
    ...(submissionIds.has(submissionId) ? [] : [submissionPath]),
    ...(reviewerIds.has(reviewerId) ? [] : [reviewerPath]),
  ]);
  if (unknownPaths.length === 0) return;
  throw validationProblem(
    ...[...new Set(unknownPaths)].map((path) => ({ path, code: "not_found", message: "There is no such record" })),
  );
}

/** @throws Problem `invalid_state_transition` */
function requireInRound(
  { submissionId, state, currentRoundId }: Pick<Row<"submissions">, "submissionId" | "state" | "currentRoundId">,
  { roundId }: Round,
): void {
  if (state === "IN_REVIEW" && currentRoundId === roundId) return;
  const because = state === "IN_REVIEW" ? { because: "the submission is in another round" } : {};
  const details = { from: state, operation: "assign", allowedFrom: ["IN_REVIEW"], submissionId, ...because };
  throw problem("invalid_state_transition", details);
}

function createUnsuitableProblem(message: string) {
  return validationProblem({ path: "newReviewerId", code: "invalid_value", message });
}

async function applyPlan(context: WriteContext, round: Round, source: "auto" | "bulk", plan: AssignmentPlan) {
  const created: Assignment[] = [];
  for (const pair of plan.assign) {
    created.push(await createAssignment(context, round, pair, { source, reassignedFromId: null, reason: null }));
  }
  const { skipped, truncated } = plan;
  return { created, skipped: [...skipped], ...(truncated.length > 0 ? { truncated } : {}) };
}

type AssignmentOrigin = Pick<Assignment, "source" | "reassignedFromId" | "reason">;

function createAssignment(
  { store, now, newId }: WriteContext,
  round: Round,
  pair: Pair,
  origin: AssignmentOrigin,
): Promise<Assignment> {
  return store.insert("assignments", {
    ...origin,
    ...pickKeys(round, "programId", "trackId", "roundId"),
    ...pickKeys(pair, "submissionId", "reviewerId"),
    assignmentId: newId("asg"),
    status: "assigned",
    active: true,
    dueAt: round.deadline,
    assignedAt: now,
    respondedAt: null,
    completedAt: null,
    removedAt: null,
    conflictAttestation: null,
  });
}
