import type { Token, TokenPatch } from "../../contract/access/tokens.ts";
import { problem } from "../../contract/errors.ts";
import type { Clock } from "../../lib/clock.ts";
import type { Store } from "../../store/port.ts";
import { createTokenEntry } from "../audit/entries.ts";
import { commandLine, withAudit } from "../audit/with-audit.ts";

/** Changes access tokens for the operator. A change applies from the next call on, in every process, and is audited. */
export interface TokenAdmin {
  /** @throws Problem `not_found` for a token that does not exist or is revoked */
  update(tokenId: string, patch: Omit<TokenPatch, "revokedAt">): Promise<Token>;
  /** @throws Problem `not_found` for a token that does not exist or is revoked already */
  revoke(tokenId: string): Promise<Token>;
}

export function createTokenAdmin(store: Store, clock: Clock): TokenAdmin {
  async function change(tokenId: string, action: string, patch: TokenPatch): Promise<Token> {
    const token = await store.getToken(tokenId);
    if (!token) throw problem("not_found");
    const { businessId } = token;
    const tokenChange = { ...commandLine, businessId, action, now: clock.now() };
    return withAudit(store, tokenChange, async (transaction, _, context) => {
      const changed = await transaction.changeToken(tokenId, patch);
      if (!changed) throw problem("not_found");
      const entry = createTokenEntry(context, changed);
      if (entry.changes.length > 0) await transaction.appendAudit([entry]);
      return changed.after;
    });
  }

  return {
    update: (tokenId, patch) => change(tokenId, "token.updated", patch),
    revoke: (tokenId) => change(tokenId, "token.revoked", { revokedAt: clock.now().toISOString() }),
  };
}
