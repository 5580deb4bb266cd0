import { audit, emit, type Handler, inAnsweredOrder, ok, Refusal, requireWritable } from "./tenant.ts";

/** The part of the reference model that releases feedback (specification 4.8). All of it is for one submission. */
export const feedbackHandlers = {
  list_released_feedback({ feedbacks, submissions }, { submissionId }, answered) {
    const isOthers = submissionId !== undefined && submissionId !== submissions[0]?.submissionId;
    const released = isOthers ? [] : feedbacks.filter((each) => each.released);
    return ok(inAnsweredOrder(answered, "feedbackId", released));
  },
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
