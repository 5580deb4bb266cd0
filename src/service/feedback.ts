import { getEventIds } from "../domain/submissions.ts";
import type { Handler } from "../store/handler-context.ts";
import { getOrThrow, loadWritableProgram } from "./guards.ts";

export const list_released_feedback: Handler<"list_released_feedback"> = ({ store }, input) => {
  const { programId, submissionId, ...page } = input;
  return store.page("feedbacks", { where: { programId, submissionId, released: true } }, "newest", page);
};

export const release_feedback: Handler<"release_feedback"> = async ({ store, caller, now, emit }, { feedbackId }) => {
  const feedback = await getOrThrow(store, "feedbacks", feedbackId);
  await loadWritableProgram(store, feedback.programId);
  if (feedback.released) return feedback;
  const submission = await getOrThrow(store, "submissions", feedback.submissionId);
  const released = await store.update("feedbacks", feedback, {
    released: true,
    releasedAt: now,
    releasedBy: caller.tokenId,
  });
  const ids = getEventIds(submission);
  emit("feedback.released", { ...ids, roundId: feedback.roundId ?? ids.roundId, feedbackId });
  return released;
};
