import { DatabaseSync } from "node:sqlite";
import type { Scope } from "../../contract/access/scopes.ts";
import { isLive } from "../../contract/access/token-format.ts";
import type { Token } from "../../contract/access/tokens.ts";
import { hashToken } from "../../lib/crypto/crypto.ts";

/**
 * Reads the scopes of a token with SQLite alone, for an answer that comes before the store is open. It decides nothing:
 * each call authenticates its token with the store.
 * @returns undefined if the file cannot be read, or has no such token that is neither revoked nor expired
 */
export function readTokenScopes(path: string, token: string, now: Date): ReadonlySet<Scope> | undefined {
  try {
    const db = new DatabaseSync(path, { readOnly: true });
    try {
      const select = db.prepare("SELECT scopes, revokedAt, expiresAt FROM tokens WHERE sha256 = ?");
      const row = select.get(hashToken(token));
      if (!row || !isLive(row as Pick<Token, "revokedAt" | "expiresAt">, now)) return undefined;
      return new Set(JSON.parse(String(row["scopes"])) as Scope[]);
    } finally {
      db.close();
    }
  } catch {
    // A new database, for example. The start that follows reports what is wrong with another one.
    return undefined;
  }
}
