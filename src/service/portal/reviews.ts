import type { Assignment } from "../../contract/assignments.ts";
import { problem, validationProblem } from "../../contract/errors.ts";
import type { PortalActionInput } from "../../contract/portal.ts";
import type { Review } from "../../contract/reviews.ts";
import type { Rubric } from "../../contract/schemas.ts";
import { pickKeys } from "../../domain/patch.ts";
import { checkScores } from "../../domain/reviews.ts";
import { scoreReview } from "../../domain/scoring.ts";
import { getEventIds } from "../../domain/submissions.ts";
import type { PortalActionHandler, PortalContext } from "../../store/handler-context.ts";
import type { Reader } from "../../store/port.ts";
import { getOrThrow } from "../guards.ts";
import { loadAssignmentFor } from "./assignments.ts";
import { loadReviewerAuthor } from "./authors.ts";

type ReviewArguments = PortalActionInput<"submit_review">;

export const submit_review: PortalActionHandler<"submit_review"> = {
  author: (store, { assignmentId }) => loadReviewerAuthor(store, assignmentId),

  async run(context, input) {
    const { store, now, emit } = context;
    const assignment = await loadAssignmentFor(store, input.assignmentId, "review");
    const rubric = await loadRubric(store, assignment.roundId);
    const issues = checkScores(rubric.criteria, input.scores, !input.draft);
    if (issues.length > 0) throw validationProblem(...issues);
    const review = await saveReview(context, input, assignment, rubric);
    if (input.draft) return review;
    await store.update("assignments", assignment, { status: "completed", completedAt: now });
    const submission = await getOrThrow(store, "submissions", assignment.submissionId);
    const ids = pickKeys(review, "roundId", "reviewId", "assignmentId", "reviewerId");
    emit("review.submitted", { ...getEventIds(submission), ...ids });
    return review;
  },
};

/**
 * Returns the rubric of an active round.
 * @throws Problem `round_inactive`
 */
async function loadRubric(store: Reader, roundId: string): Promise<Rubric> {
  const { active, rubricId, rubricVersion } = await getOrThrow(store, "rounds", roundId);
  if (!active) throw problem("round_inactive", { roundId });
  const [rubric] = await store.find("rubrics", { where: { rubricId, rubricVersion } }, { limit: 1 });
  if (!rubric) throw new Error(`Rubric ${rubricId} version ${rubricVersion} is missing`);
  return rubric;
}

/** Saves the assignment's only review: submitting updates its draft. */
async function saveReview(
  { store, now, newId }: PortalContext,
  input: ReviewArguments,
  assignment: Assignment,
  rubric: Rubric,
): Promise<Review> {
  const { assignmentId } = assignment;
  const content = {
    ...pickKeys(rubric, "rubricId", "rubricVersion"),
    ...pickKeys(input, "scores", "recommendation"),
    ...scoreReview(rubric, input.scores),
    status: input.draft ? ("draft" as const) : ("submitted" as const),
    submittedAt: input.draft ? null : now,
  };
  const comments = pickKeys(input, "overallComment", "confidentialComment");
  const [draft] = await store.find("reviews", { where: { assignmentId } }, { limit: 1 });
  if (draft) return store.update("reviews", draft, { ...content, ...comments });
  return store.insert("reviews", {
    ...content,
    ...pickKeys(assignment, "assignmentId", "submissionId", "programId", "roundId", "reviewerId"),
    reviewId: newId("rev"),
    overallComment: comments.overallComment ?? null,
    confidentialComment: comments.confidentialComment ?? null,
  });
}
