import type { assignmentHandlers } from "../assignments.ts";
import type { feedbackHandlers } from "../feedback.ts";
import type { reviewerHandlers } from "../reviewers.ts";
import type { reviewHandlers } from "../reviews/reviews.ts";
import { listAssignments, type ModelTenant } from "../tenant.ts";
import type { Call, RequestInput } from "./call.ts";

type ReviewOperation =
  | keyof typeof assignmentHandlers
  | keyof typeof reviewHandlers
  | keyof typeof reviewerHandlers
  | keyof typeof feedbackHandlers;

export function createReviewInput(
  { name, choice, target, versionOffset }: Call & { readonly name: ReviewOperation },
  submissionId: string,
  { fixed: { roundIds }, reviewers }: ModelTenant,
  named: ModelTenant,
): RequestInput {
  const known = listAssignments(named);
  const { assignmentId = "asg_unknown", version = 0 } = known[((choice % 3) * 4 + target) % known.length] ?? {};
  const { reviewerId } = reviewers[(target + choice) % reviewers.length] ?? {};
  switch (name) {
    case "bulk_assign_reviewers": {
      // Most submissions are not in review: a random one would hardly ever get a reviewer.
      const reviewed = choice > 1 ? named.submissions.findLast(({ state }) => state === "IN_REVIEW") : undefined;
      const { currentRoundId: roundId = roundIds[choice % 2] } = reviewed ?? {};
      return { roundId, submissionIds: [reviewed?.submissionId ?? submissionId], reviewerIds: [reviewerId] };
    }
    case "reassign_assignment": {
      return { assignmentId, newReviewerId: reviewerId, version: Math.max(0, version + versionOffset) };
    }
    case "auto_assign_reviewers": {
      const domain = { useExpertiseMatching: true, domainFieldId: named.fixed.domainFieldId };
      const matching = [{}, domain, domain, { useExpertiseMatching: true }][target];
      const inReview = named.submissions.findLast(({ state }) => state === "IN_REVIEW")?.currentRoundId;
      const roundId = (choice % 2 ? inReview : undefined) ?? named.fixed.roundIds[choice % roundIds.length];
      return { roundId, ...(choice % 2 ? { reviewsPerSubmission: 1 } : {}), ...matching };
    }
    case "get_review": {
      const { reviews } = named.fixed;
      return { reviewId: reviews[(choice + target) % reviews.length]?.reviewId };
    }
    case "get_submission_reviews_summary": {
      const { reviews, other } = named.fixed;
      const reviewedId = reviews[(choice + target) % reviews.length]?.submissionId;
      const rounds = [undefined, roundIds[0], roundIds[1], choice % 2 ? other.roundId : undefined];
      return { submissionId: choice === 5 ? submissionId : reviewedId, roundId: rounds[target] };
    }
    case "get_reviewer":
      return { reviewerId: named.reviewers[(target + choice) % named.reviewers.length]?.reviewerId };
    case "invite_reviewer":
      return createInvitation(choice, target, named);
    case "delete_assignment":
      return { assignmentId };
    case "release_feedback":
      return { feedbackId: named.feedbacks[choice % named.feedbacks.length]?.feedbackId };
  }
}

/** Invites somebody new, or one of the first reviewers again. An address may come in another case. */
function createInvitation(choice: number, target: number, { fixed, reviewers }: ModelTenant): RequestInput {
  const known = reviewers.slice(0, 4).map(({ email }) => email);
  const email = ["guest0@example.org", "Guest1@Example.org", "guest1@example.org", ...known][(choice + target) % 7];
  const names = target % 2 ? { firstName: `Ida ${choice}`, role: "lead_reviewer" } : { lastName: "Berg" };
  const expertise = choice > 2 ? { expertise: ["arts", "Science"].slice(target % 2) } : {};
  const roundIds = target === 3 ? {} : { roundIds: fixed.roundIds.slice(0, target) };
  return { email, ...names, ...expertise, ...roundIds, ...(choice === 5 ? { suppressEmails: true } : {}) };
}
