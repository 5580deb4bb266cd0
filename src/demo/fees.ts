import type { PaymentStatus } from "../contract/payments.ts";
import { unpaidFields } from "../domain/payments.ts";
import type { Patch } from "../store/tables.ts";
import type { RandomPicker } from "./random-picker.ts";
import type { GroupSubmission, SubmissionGroup } from "./submission-group.ts";
import type { HistoryAuthor, HistoryTransaction } from "./timeline.ts";
import { computeTrackFee } from "./track-fixture.ts";

/** Steps of the entry fee; without a fee nothing happens. `officer`: who waives fees. */
export function createFees(picker: RandomPicker, officer: HistoryAuthor) {
  async function settle(history: HistoryTransaction, copy: GroupSubmission, status: PaymentStatus): Promise<void> {
    const { paymentId, submissionId, applicant } = copy;
    if (paymentId === undefined) return;
    const byOffice = status === "waived" || status === "refunded";
    const by: HistoryAuthor = byOffice ? officer : { type: "applicant", id: applicant.applicantId };
    await history.change("payments", paymentId, outcomeOf(status, history.now, officer), {
      action: `payment.${status}`,
      by,
    });
    await history.change("submissions", submissionId, { paymentStatus: status }, { by });
  }

  function outcomeOf(status: PaymentStatus, now: string, { id }: HistoryAuthor): Patch<"payments"> {
    const byCard = {
      method: "card",
      provider: "cardgate",
      providerRef: `ch_${picker.pickDigest().slice(0, 20)}`,
    } as const;
    if (status === "waived") return { status, method: "waiver", waivedAt: now, waivedBy: id };
    if (status === "failed") return { ...byCard, status, failureCode: picker.pick(["card_declined", "expired_card"]) };
    if (status !== "succeeded") return { status };
    return picker.isLikely(0.75) ? { ...byCard, status, paidAt: now } : { method: "offline", status, paidAt: now };
  }

  return {
    /** A payment that is due; gives its id, or nothing where no fee is. */
    async demand(
      history: HistoryTransaction,
      { fixture }: SubmissionGroup,
      submissionId: string,
    ): Promise<string | undefined> {
      const fee = computeTrackFee(fixture);
      if (!fee) return undefined;
      const paymentId = history.newId("pay");
      const { programId, trackId } = fixture.track;
      await history.add("payments", { ...unpaidFields, paymentId, submissionId, programId, trackId, ...fee });
      return paymentId;
    },

    async settleAll(history: HistoryTransaction, group: SubmissionGroup, status: PaymentStatus): Promise<void> {
      if (status === "pending") return;
      for (const copy of group.copies) await settle(history, copy, status);
    },
  };
}

export type Fees = ReturnType<typeof createFees>;
