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
    for await (const reviewers of source.list("list_reviewers", { programId }, [
      "reviewerId",
      "firstName",
      "lastName",
    ])) {
      for (const { reviewerId, firstName, lastName } of reviewers) {
        const name = [firstName, lastName].filter((part) => part).join(" ");
        if (reviewerIds.has(reviewerId) && name !== "") names.set(reviewerId, name);
      }
      if (names.size === reviewerIds.size) return;
    }
  });
  return names;
}
