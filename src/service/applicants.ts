import type { Handler } from "../store/handler-context.ts";
import { createPersonIncluder } from "./persons/includes.ts";

export const list_applicants: Handler<"list_applicants"> = async (context, input) => {
  const { programId, trackId, includePersonFieldIds, ...page } = input;
  // Everyone in a track is in its programme, so the query filters by the narrower of the two.
  const track = programId && trackId ? await context.store.get("tracks", trackId) : undefined;
  const has = { programIds: track?.programId === programId ? undefined : programId, trackIds: trackId };
  const { rows, ...cursors } = await context.store.page("applicants", { has }, "newest", page);
  const applicantId = rows.map((row) => row.applicantId);
  const submissions = await context.store.countBy("submissions", "applicantId", { where: { applicantId } });
  const includePerson = await createPersonIncluder(context, rows, includePersonFieldIds);
  return {
    rows: rows.map((row) => {
      const { personId: _, ...applicant } = row;
      return { ...applicant, submissionCount: submissions.get(row.applicantId) ?? 0, ...includePerson(row) };
    }),
    ...cursors,
  };
};
