import { audit, emit, type Handler, ok, Refusal, requireWritable } from "./tenant.ts";

/** The part of the reference model that releases feedback (specification 4.8). All of it is for one submission. */
export const feedbackHandlers = {
  release_feedback(tenant, { feedbackId }) {
    const feedback = tenant.feedbacks.find((each) => each.feedbackId === feedbackId);
    const [submission] = tenant.submissions;
    if (!feedback || !submission) throw new Refusal(404, "not_found");
    requireWritable(tenant);
    if (!feedback.released) {
      feedback.released = true;
      feedback.version += 1;
      emit(tenant, submission, "feedback.released");
      audit(tenant, feedbackId, "feedback.released");
    }
    return ok({ ...feedback });
  },
} as const satisfies Record<string, Handler>;
