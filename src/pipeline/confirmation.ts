import { problem } from "../contract/errors.ts";
import type { ConsumedNonce, PipelineTransaction } from "../store/port.ts";
import { computeChangeDigest } from "./audit/change-digest.ts";

/**
 * Consumes a confirmation in the transaction that makes the confirmed changes.
 * @throws Problem `confirmation_stale` for other changes, `confirmation_invalid` for a confirmation used before
 */
export async function applyConfirmation(transaction: PipelineTransaction, confirmed: ConsumedNonce): Promise<void> {
  if (computeChangeDigest(transaction.changes) !== confirmed.digest) throw problem("confirmation_stale");
  if (!(await transaction.consumeNonce(confirmed.nonce, confirmed.expiresAt))) throw problem("confirmation_invalid");
}
