import type { Suppression } from "../contract/emails.ts";
import { createId } from "../lib/ids.ts";
import type { PipelineTransaction } from "../store/port.ts";
import { normalizeEmail } from "../store/tables.ts";

/** Suppresses mail to an address. @returns false if it was suppressed already */
export async function suppressEmail(
  transaction: PipelineTransaction,
  email: string,
  reason: Suppression["reason"],
): Promise<boolean> {
  const [existing] = await transaction.find("suppressions", { has: { email: normalizeEmail(email) } }, { limit: 1 });
  if (existing) return false;
  await transaction.insert("suppressions", { suppressionId: createId("spr"), email, reason });
  return true;
}

/** Allows mail to an address again. @returns false if it was not suppressed */
export async function unsuppressEmail(transaction: PipelineTransaction, email: string): Promise<boolean> {
  const [existing] = await transaction.find("suppressions", { has: { email: normalizeEmail(email) } }, { limit: 1 });
  if (!existing) return false;
  await transaction.remove("suppressions", existing);
  return true;
}
