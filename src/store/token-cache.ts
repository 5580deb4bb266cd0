import type { Token } from "../contract/access/tokens.ts";
import { createBatchReader } from "./batch-reader.ts";
import { type Db, prepareQuery, tokenCodec } from "./database.ts";
import { createRecordCache } from "./record-cache.ts";

/** Maximum number of cached tokens. */
const maxTokens = 1_000;
const batches = { maxKeys: 32, maxQueries: 2 } as const;

/** Reads tokens of any tenant by SHA-256, with a cache. A revocation takes effect in every process at once. */
export function createTokenCache(
  db: Db,
  revision: (() => Promise<unknown>) | undefined,
): (sha256: string) => Promise<Token | undefined> {
  const select = db.selectFrom("tokens").select([...tokenCodec.names]);
  const bySha256 = prepareQuery(select.where("sha256", "=", ""));
  const bySha256s = prepareQuery(select.where("sha256", "in", Array<string>(batches.maxKeys).fill("")));
  const remember = createRecordCache<Token | undefined>(revision, maxTokens, (token) => token !== undefined);

  // Otherwise, the lookups of an organisation that sends much would take all connections.
  const read = createBatchReader(async (sha256s) => {
    const [first = ""] = sha256s;
    const others = () => Array.from({ length: batches.maxKeys }, (_, index) => sha256s[index] ?? first);
    const { rows } = await (sha256s.length === 1 ? bySha256(db, first) : bySha256s(db, ...others()));
    const tokens = rows.map((row) => tokenCodec.decodeTuple(row));
    return new Map(tokens.map((token) => [token.sha256, token]));
  }, batches);

  return (sha256) => remember(sha256, () => read(sha256));
}
