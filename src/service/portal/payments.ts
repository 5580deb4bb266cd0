import { pickKeys } from "../../domain/patch.ts";
import { createPaymentFields, requirePayable } from "../../domain/payments.ts";
import { getEventIds } from "../../domain/submissions.ts";
import type { ActHandler } from "../../store/handler-context.ts";
import { getOrThrow, loadWritableProgram } from "../guards.ts";
import { loadLatestPayment } from "../payments.ts";
import { loadApplicantAuthor, staff } from "./authors.ts";

/** Applicants pay by card; what is paid otherwise, waived or given back is staff's word. */
export const record_payment: ActHandler<"record_payment"> = {
  author: async (store, { submissionId, outcome }) =>
    outcome === "paid" || outcome === "failed" ? loadApplicantAuthor(store, submissionId) : staff,

  async run({ store, now, emit, author }, input) {
    const { submissionId, outcome } = input;
    const submission = await getOrThrow(store, "submissions", submissionId);
    await loadWritableProgram(store, submission.programId);
    const before = requirePayable(outcome, await loadLatestPayment(store, submissionId));
    const arrival = createPaymentFields(outcome, now, author.actorId);
    const payment = await store.update("payments", before, {
      ...pickKeys(input, "provider", "providerRef"),
      ...(outcome === "failed" ? { failureCode: input.failureCode ?? "card_declined" } : {}),
      ...arrival,
    });
    const owing = await store.update("submissions", submission, { paymentStatus: arrival.status });
    const data = {
      ...getEventIds(owing),
      ...pickKeys(payment, "paymentId", "amountMinor", "currency", "status", "method"),
    };
    // Of a refund the specification knows no event.
    if (arrival.status !== "refunded") emit(`payment.${arrival.status}`, data);
    return payment;
  },
};
