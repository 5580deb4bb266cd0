import type { Reviewer } from "../contract/reviewers.ts";

/** Returns null if no name is known. */
export function formatReviewerName({ firstName, lastName }: Pick<Reviewer, "firstName" | "lastName">): string | null {
  return [firstName, lastName].filter((part) => part).join(" ") || null;
}
