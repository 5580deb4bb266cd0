import type { Token } from "../contract/tokens.ts";
import { type Db, prepare, tokenCodec } from "./database.ts";

/** Tokens remembered at once. */
const maxTokens = 1_000;

/**
 * Reads tokens by SHA-256, of any tenant. One is remembered while `revision` stays the same, that is until the next
 * commit of whichever process: to ask for it costs less than to read the token, and what is revoked is so at once.
 */
export function createTokenMemory(
  db: Db,
  revision: (() => Promise<unknown>) | undefined,
): (sha256: string) => Promise<Token | undefined> {
  const bySha256 = prepare(
    db
      .selectFrom("tokens")
      .select([...tokenCodec.names])
      .where("sha256", "=", ""),
  );
  const tokens = new Map<string, Token>();
  let seen: unknown;

  async function read(sha256: string): Promise<Token | undefined> {
    const { rows } = await bySha256(db, sha256);
    return rows[0] && tokenCodec.decodeTuple(rows[0]);
  }

  return async (sha256) => {
    if (!revision) return read(sha256);
    const current = await revision();
    if (current !== seen) {
      tokens.clear();
      seen = current;
    }
    const known = tokens.get(sha256);
    if (known) return known;
    const token = await read(sha256);
    // Read before a commit that somebody else has seen by now, it would be remembered as if from after it.
    if (token && current === seen && tokens.size < maxTokens) tokens.set(sha256, token);
    return token;
  };
}
