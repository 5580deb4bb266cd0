import type { PaymentStatus } from "../contract/payments.ts";
import type { Program, Track } from "../contract/programs.ts";

/** ISO 4217 for "no currency": what a fee shows while neither track nor programme names one. */
const noCurrency = "XXX";

/** The fee of a submission to a track, in the currency's minor unit; `undefined` where none is due. */
export function feeOf(
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
