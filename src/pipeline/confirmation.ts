import { problem } from "../contract/errors.ts";
import type { Clock } from "../lib/clock.ts";
import type { ConsumedNonce, PipelineTransaction, Store } from "../store/port.ts";
import { computeChangeDigest } from "./audit/change-digest.ts";

/**
 * Consumes a confirmation in the transaction that makes the confirmed changes.
 * @throws Problem `confirmation_stale` for other changes, `confirmation_invalid` for a confirmation used before
 */
export async function applyConfirmation(transaction: PipelineTransaction, confirmed: ConsumedNonce): Promise<void> {
  if (computeChangeDigest(transaction.changes) !== confirmed.digest) throw problem("confirmation_stale");
  if (!(await transaction.consumeNonce(confirmed.nonce, confirmed.expiresAt))) throw problem("confirmation_invalid");
}

/** Consumes confirmations of a realm that no call of this database uses. Returns false if one was used before. */
export type ConsumeConfirmations = (
  realm: string,
  used: readonly Pick<ConsumedNonce, "nonce" | "expiresAt">[],
) => Promise<boolean>;

export function createConfirmationConsumer(store: Pick<Store, "transaction">, clock: Clock): ConsumeConfirmations {
  return (realm, used) => {
    const actor = { businessId: realm, actorId: "confirmation", now: clock.now().toISOString() };
    return store.transaction(actor, async (transaction) => {
      let unused = true;
      for (const { nonce, expiresAt } of used) unused = (await transaction.consumeNonce(nonce, expiresAt)) && unused;
      return unused;
    });
  };
}
