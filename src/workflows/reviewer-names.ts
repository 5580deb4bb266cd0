import { formatReviewerName } from "../domain/reviewers.ts";
import type { RecordSource } from "../upstream/port.ts";

/** Returns the names of some of a programme's reviewers by id, as far as the token may read them. */
export async function loadReviewerNames(
  source: RecordSource,
  programId: string,
  reviewerIds: ReadonlySet<string>,
): Promise<ReadonlyMap<string, string>> {
  const names = new Map<string, string>();
  if (reviewerIds.size === 0) return names;
  await source.ifPermitted("names of reviewers", async () => {
    const fields = ["reviewerId", "firstName", "lastName"] as const;
    for await (const reviewers of source.list("list_reviewers", { programId }, fields, { ids: reviewerIds })) {
      for (const reviewer of reviewers) {
        const name = formatReviewerName(reviewer);
        if (reviewerIds.has(reviewer.reviewerId) && name !== null) names.set(reviewer.reviewerId, name);
      }
      if (names.size === reviewerIds.size) return;
    }
  });
  return names;
}
