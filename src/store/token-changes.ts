import type { TokenChange, TokenPatch } from "../contract/access/tokens.ts";
import { type Db, tokenCodec } from "./database.ts";
import { forUpdate } from "./engine.ts";

/** Changes a token that is not revoked, in a transaction that locks it. */
export async function changeToken(
  db: Db,
  businessId: string,
  tokenId: string,
  patch: TokenPatch,
): Promise<TokenChange | undefined> {
  const live = db
    .selectFrom("tokens")
    .selectAll()
    .where("businessId", "=", businessId)
    .where("tokenId", "=", tokenId)
    .where("revokedAt", "is", null);
  const row = await forUpdate(db, live).executeTakeFirst();
  if (!row) return undefined;
  const before = tokenCodec.decode(row);
  const given = Object.entries(patch).filter(([, value]) => value !== undefined);
  if (given.length === 0) return { before, after: before };
  const stored = Object.fromEntries(given.map(([name, value]) => [name, tokenCodec.encodeValue(name, value)]));
  await db.updateTable("tokens").set(stored).where("tokenId", "=", tokenId).execute();
  return { before, after: { ...before, ...Object.fromEntries(given) } };
}
