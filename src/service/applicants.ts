import type { Handler } from "../store/handler-context.ts";
import { expandPersons } from "./person-includes.ts";

export const list_applicants: Handler<"list_applicants"> = async (work, input) => {
  const { programId, trackId, includePersonFieldIds, ...page } = input;
  // Whoever is in a track is in its programme: the narrower of the two is all there is to look for.
  const track = programId && trackId ? await work.store.get("tracks", trackId) : undefined;
  const has = { programIds: track?.programId === programId ? undefined : programId, trackIds: trackId };
  const { rows, lastEvaluatedKey } = await work.store.page("applicants", { has }, "newest", page);
  const applicantId = rows.map((row) => row.applicantId);
  const submissions = await work.store.countBy("submissions", "applicantId", { where: { applicantId } });
  const personOf = await expandPersons(work, rows, includePersonFieldIds);
  return {
    rows: rows.map((row) => {
      const { personId: _, ...applicant } = row;
      return { ...applicant, submissionCount: submissions.get(row.applicantId) ?? 0, ...personOf(row) };
    }),
    lastEvaluatedKey,
  };
};
