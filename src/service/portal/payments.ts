import { pickKeys } from "../../domain/patch.ts";
import { createPaymentFields, requirePayable } from "../../domain/payments.ts";
import { getEventIds } from "../../domain/submissions.ts";
import type { PortalActionHandler } from "../../store/handler-context.ts";
import { getOrThrow, loadWritableProgram } from "../guards.ts";
import { loadLatestPayment } from "../payments.ts";
import { loadApplicantAuthor, staff } from "./authors.ts";

/** Applicants pay by card; staff record other payments, waivers and refunds. */
export const record_payment: PortalActionHandler<"record_payment"> = {
  author: async (store, { submissionId, outcome }) =>
    outcome === "paid" || outcome === "failed" ? loadApplicantAuthor(store, submissionId) : staff,

  async run({ store, now, emit, author }, input) {
    const { submissionId, outcome } = input;
    const submission = await getOrThrow(store, "submissions", submissionId);
    await loadWritableProgram(store, submission.programId);
    const previous = requirePayable(outcome, await loadLatestPayment(store, submissionId));
    const outcomeFields = createPaymentFields(outcome, now, author.actorId);
    const payment = await store.update("payments", previous, {
      ...pickKeys(input, "provider", "providerRef"),
      ...(outcome === "failed" ? { failureCode: input.failureCode ?? "card_declined" } : {}),
      ...outcomeFields,
    });
    const updatedSubmission = await store.update("submissions", submission, { paymentStatus: outcomeFields.status });
    const data = {
      ...getEventIds(updatedSubmission),
      ...pickKeys(payment, "paymentId", "amountMinor", "currency", "status", "method"),
    };
    // The specification has no event for refunds.
    if (outcomeFields.status !== "refunded") emit(`payment.${outcomeFields.status}`, data);
    return payment;
  },
};
