import { problem } from "../contract/errors.ts";
import type { Payment, PaymentStatus } from "../contract/payments.ts";
import type { Program, Track } from "../contract/programs.ts";

/** The code of ISO 4217 for "no currency", for fees where neither track nor programme names one. */
const noCurrency = "XXX";

/** Returns the fee of a submission to a track in the currency's minor unit, or `undefined` if none is due. */
export function computeFee(
  program: Pick<Program, "feeRequired" | "currency">,
  track: Pick<Track, "feeAmountMinor" | "currency">,
): { amountMinor: number; currency: string } | undefined {
  const amountMinor = track.feeAmountMinor ?? 0;
  if (!program.feeRequired || amountMinor <= 0) return undefined;
  return { amountMinor, currency: track.currency ?? program.currency ?? noCurrency };
}

/** Returns whether nothing remains to be paid. */
export function isSettled(status: PaymentStatus | null): boolean {
  return status === "succeeded" || status === "waived";
}

/** Fields of a payment before its first outcome. */
export const unpaidFields = {
  status: "pending",
  method: null,
  provider: null,
  providerRef: null,
  failureCode: null,
  paidAt: null,
  waivedAt: null,
  waivedBy: null,
} as const satisfies Partial<Payment>;

/**
 * Outcomes of a fee: paid by card, paid in another way and confirmed by staff, declined by the card's issuer, waived,
 * or refunded after it was paid.
 */
export type PaymentOutcome = "paid" | "offline" | "failed" | "waived" | "refunded";

const unpaid: readonly PaymentStatus[] = ["pending", "failed"];
const allowedStatuses: Readonly<Record<PaymentOutcome, readonly PaymentStatus[]>> = {
  paid: unpaid,
  offline: unpaid,
  failed: ["pending"],
  waived: unpaid,
  refunded: ["succeeded"],
};

/**
 * Returns the payment if the outcome is possible.
 * @throws Problem `invalid_state_transition`; from `not_required` if there is no payment
 */
export function requirePayable(outcome: PaymentOutcome, payment: Payment | undefined): Payment {
  const allowedFrom = allowedStatuses[outcome];
  if (payment && allowedFrom.includes(payment.status)) return payment;
  const from = payment?.status ?? "not_required";
  throw problem("invalid_state_transition", { from, operation: outcome, allowedFrom });
}

/** Returns the fields of a payment after an outcome. `by` identifies who recorded it. */
export function createPaymentFields(
  outcome: PaymentOutcome,
  now: string,
  by: string,
): Partial<Payment> & SettledStatus {
  switch (outcome) {
    case "paid":
      return { status: "succeeded", method: "card", paidAt: now, failureCode: null };
    case "offline":
      return { status: "succeeded", method: "offline", paidAt: now, failureCode: null };
    case "failed":
      return { status: "failed", method: "card" };
    case "waived":
      return { status: "waived", method: "waiver", waivedAt: now, waivedBy: by };
    case "refunded":
      return { status: "refunded" };
  }
}

interface SettledStatus {
  readonly status: "succeeded" | "failed" | "waived" | "refunded";
}
