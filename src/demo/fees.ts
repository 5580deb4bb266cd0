import type { PaymentStatus } from "../contract/payments.ts";
import { unsettled } from "../domain/payments.ts";
import type { Patch } from "../store/tables.ts";
import type { Batch, Copy } from "./batch.ts";
import { courseFee } from "./course.ts";
import type { Draw } from "./draw.ts";
import type { Author, Desk } from "./timeline.ts";

/** Steps of the entry fee; without a fee nothing happens. `officer`: who waives fees. */
export function createFees(draw: Draw, officer: Author) {
  async function settle(desk: Desk, copy: Copy, status: PaymentStatus): Promise<void> {
    const { paymentId, submissionId, applicant } = copy;
    if (paymentId === undefined) return;
    const byOffice = status === "waived" || status === "refunded";
    const by: Author = byOffice ? officer : { type: "applicant", id: applicant.applicantId };
    await desk.change("payments", paymentId, outcomeOf(status, desk.now, officer), { action: `payment.${status}`, by });
    await desk.change("submissions", submissionId, { paymentStatus: status }, { by });
  }

  function outcomeOf(status: PaymentStatus, now: string, { id }: Author): Patch<"payments"> {
    const byCard = { method: "card", provider: "cardgate", providerRef: `ch_${draw.digest().slice(0, 20)}` } as const;
    if (status === "waived") return { status, method: "waiver", waivedAt: now, waivedBy: id };
    if (status === "failed") return { ...byCard, status, failureCode: draw.one(["card_declined", "expired_card"]) };
    if (status !== "succeeded") return { status };
    return draw.chance(0.75) ? { ...byCard, status, paidAt: now } : { method: "offline", status, paidAt: now };
  }

  return {
    /** A payment that is due; gives its id, or nothing where no fee is. */
    async demand(desk: Desk, { course }: Batch, submissionId: string): Promise<string | undefined> {
      const fee = courseFee(course);
      if (!fee) return undefined;
      const paymentId = desk.newId("pay");
      const { programId, trackId } = course.track;
      await desk.add("payments", { ...unsettled, paymentId, submissionId, programId, trackId, ...fee });
      return paymentId;
    },

    async settleAll(desk: Desk, batch: Batch, status: PaymentStatus): Promise<void> {
      if (status === "pending") return;
      for (const copy of batch.copies) await settle(desk, copy, status);
    },
  };
}

export type Fees = ReturnType<typeof createFees>;
