import type { Suppression } from "../contract/emails.ts";
import { createId } from "../lib/ids.ts";
import type { PipelineTransaction } from "../store/port.ts";
import { normalizeEmail } from "../store/tables.ts";

/** Sees to it that nothing is sent to an address any more; false where that was so. */
export async function suppressEmail(
  transaction: PipelineTransaction,
  email: string,
  reason: Suppression["reason"],
): Promise<boolean> {
  const [known] = await transaction.find("suppressions", { has: { email: normalizeEmail(email) } }, { limit: 1 });
  if (known) return false;
  await transaction.insert("suppressions", { suppressionId: createId("spr"), email, reason });
  return true;
}

/** Lets messages go to an address again; false where they did. */
export async function unsuppressEmail(transaction: PipelineTransaction, email: string): Promise<boolean> {
  const [known] = await transaction.find("suppressions", { has: { email: normalizeEmail(email) } }, { limit: 1 });
  if (!known) return false;
  await transaction.remove("suppressions", known);
  return true;
}
