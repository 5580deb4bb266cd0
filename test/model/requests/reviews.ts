import { type assignmentHandlers, listAssignments } from "../assignments.ts";
import type { feedbackHandlers } from "../feedback.ts";
import type { Fixed, ModelTenant } from "../tenant.ts";
import type { Call, RequestInput } from "./call.ts";

export function createReviewInput(
  {
    name,
    choice,
    target,
    versionOffset,
  }: Call & { readonly name: keyof typeof assignmentHandlers | keyof typeof feedbackHandlers },
  submissionId: string,
  { roundIds, reviewerIds, inactiveReviewerId }: Fixed,
  named: ModelTenant,
): RequestInput {
  const known = listAssignments(named);
  const { assignmentId = "asg_unknown", version = 0 } = known[target % known.length] ?? {};
  switch (name) {
    case "bulk_assign_reviewers": {
      const reviewerId = reviewerIds[target % reviewerIds.length];
      // Most submissions are not in review: a random one would hardly ever get a reviewer.
      const reviewed = choice > 1 ? named.submissions.findLast(({ state }) => state === "IN_REVIEW") : undefined;
      const { currentRoundId: roundId = roundIds[choice % 2] } = reviewed ?? {};
      return { roundId, submissionIds: [reviewed?.submissionId ?? submissionId], reviewerIds: [reviewerId] };
    }
    case "reassign_assignment": {
      const newReviewerId = [...reviewerIds, inactiveReviewerId][choice % 4];
      return { assignmentId, newReviewerId, version: Math.max(0, version + versionOffset) };
    }
    case "delete_assignment":
      return { assignmentId };
    case "release_feedback":
      return { feedbackId: named.feedbacks[choice % named.feedbacks.length]?.feedbackId };
  }
}
