import { problem } from "../contract/errors.ts";
import type { Payment, PaymentStatus } from "../contract/payments.ts";
import type { Program, Track } from "../contract/programs.ts";

/** ISO 4217 for "no currency": what a fee shows while neither track nor programme names one. */
const noCurrency = "XXX";

/** The fee of a submission to a track, in the currency's minor unit; `undefined` where none is due. */
export function computeFee(
  program: Pick<Program, "feeRequired" | "currency">,
  track: Pick<Track, "feeAmountMinor" | "currency">,
): { amountMinor: number; currency: string } | undefined {
  const amountMinor = track.feeAmountMinor ?? 0;
  if (!program.feeRequired || amountMinor <= 0) return undefined;
  return { amountMinor, currency: track.currency ?? program.currency ?? noCurrency };
}

/** Whether nothing is owed any more. */
export function isSettled(status: PaymentStatus | null): boolean {
  return status === "succeeded" || status === "waived";
}

/** A payment of which nothing has come yet. */
export const unsettled = {
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
 * What can become of a fee: paid by card, seen by staff to be paid otherwise, refused by the card's issuer, waived, and
 * given back once it was paid.
 */
export type PaymentOutcome = "paid" | "offline" | "failed" | "waived" | "refunded";

const unpaid: readonly PaymentStatus[] = ["pending", "failed"];
const moves: Readonly<Record<PaymentOutcome, readonly PaymentStatus[]>> = {
  paid: unpaid,
  offline: unpaid,
  failed: ["pending"],
  waived: unpaid,
  refunded: ["succeeded"],
};

/**
 * The payment, if it may come to an outcome.
 * @throws Problem `invalid_state_transition`; from `not_required` where there is none
 */
export function requirePayable(outcome: PaymentOutcome, payment: Payment | undefined): Payment {
  const allowedFrom = moves[outcome];
  if (payment && allowedFrom.includes(payment.status)) return payment;
  const from = payment?.status ?? "not_required";
  throw problem("invalid_state_transition", { from, operation: outcome, allowedFrom });
}

/** What a payment shows once it has come to an outcome; `by`: who recorded it. */
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
