import type { Token } from "../contract/access/tokens.ts";
import { type Db, prepareQuery, tokenCodec } from "./database.ts";
import { createRecordCache } from "./record-cache.ts";

/** Maximum number of cached tokens. */
const maxTokens = 1_000;

/** Reads tokens of any tenant by SHA-256, with a cache. A revocation takes effect in every process at once. */
export function createTokenCache(
  db: Db,
  revision: (() => Promise<unknown>) | undefined,
): (sha256: string) => Promise<Token | undefined> {
  const bySha256 = prepareQuery(
    db
      .selectFrom("tokens")
      .select([...tokenCodec.names])
      .where("sha256", "=", ""),
  );
  const remember = createRecordCache<Token | undefined>(revision, maxTokens, (token) => token !== undefined);

  return (sha256) =>
    remember(sha256, async () => {
      const { rows } = await bySha256(db, sha256);
      return rows[0] && tokenCodec.decodeTuple(rows[0]);
    });
}
