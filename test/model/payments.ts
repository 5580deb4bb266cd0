import { findSubmission, type Handler, ok } from "./tenant.ts";

/** The part of the reference model that shows payments (specification 4.2, 4.8). No request changes them. */
export const paymentHandlers = {
  get_submission_payment(tenant, { submissionId }) {
    findSubmission(tenant, submissionId);
    const latest = tenant.fixed.payments.findLast((each) => each["submissionId"] === submissionId);
    return ok(latest ?? { submissionId, required: false, status: "not_required" });
  },
} as const satisfies Record<string, Handler>;
