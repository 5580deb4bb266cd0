import { validationProblem } from "../../contract/errors.ts";
import { pickKeys } from "../../domain/patch.ts";
import type { PortalActionHandler } from "../../store/handler-context.ts";
import { getOrThrow, loadWritableProgram } from "../guards.ts";
import { staff } from "./authors.ts";

export const prepare_feedback: PortalActionHandler<"prepare_feedback"> = {
  author: async () => staff,

  async run({ store, newId }, { submissionId, roundId, subject, body }) {
    const submission = await getOrThrow(store, "submissions", submissionId);
    await loadWritableProgram(store, submission.programId);
    const round = roundId === undefined ? undefined : await getOrThrow(store, "rounds", roundId);
    if (round && round.trackId !== submission.trackId) {
      throw validationProblem({ path: "roundId", code: "custom", message: "The round belongs to another track" });
    }
    return store.insert("feedbacks", {
      ...pickKeys(submission, "submissionId", "programId"),
      feedbackId: newId("fbk"),
      roundId: roundId ?? null,
      subject: subject ?? null,
      body,
      released: false,
      releasedAt: null,
      releasedBy: null,
    });
  },
};
