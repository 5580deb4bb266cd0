import type { Scope } from "../../contract/access/scopes.ts";
import { visibleTokenChars } from "../../contract/access/token-format.ts";
import type { Token, TokenChange, TokenPatch } from "../../contract/access/tokens.ts";
import { problem } from "../../contract/errors.ts";
import type { Clock } from "../../lib/clock.ts";
import { createRandomToken, hashToken } from "../../lib/crypto/crypto.ts";
import { createId } from "../../lib/ids.ts";
import type { Author } from "../../store/handler-context.ts";
import type { PipelineTransaction, Store } from "../../store/port.ts";
import { createTokenEntry } from "../audit/entries.ts";
import { commandLine, withAudit } from "../audit/with-audit.ts";

/** A new token. It cannot be shown later. */
export interface IssuedToken {
  readonly tokenId: string;
  readonly token: string;
  readonly businessId: string;
  readonly scopes: readonly Scope[];
}

export interface TokenRequest {
  readonly businessId: string;
  readonly name: string;
  readonly scopes: readonly Scope[];
  readonly expiresAt: string | null;
}

/**
 * Manages access tokens. A change applies from the next call on, in every process, and is audited under its author: the
 * operator by default.
 */
export interface TokenAdmin {
  create(request: TokenRequest, author?: Author): Promise<IssuedToken>;
  /** @throws Problem `not_found` for a token that does not exist or is revoked */
  update(tokenId: string, patch: Omit<TokenPatch, "revokedAt">, author?: Author): Promise<Token>;
  /** @throws Problem `not_found` for a token that does not exist or is revoked already */
  revoke(tokenId: string, author?: Author): Promise<Token>;
}

/** Makes a token, and the row with its SHA-256 (specification 5). */
export function createTokenRow(request: TokenRequest, now: Date): { readonly token: string; readonly row: Token } {
  const token = createRandomToken();
  const row: Token = {
    tokenId: createId("tok"),
    businessId: request.businessId,
    name: request.name,
    sha256: hashToken(token),
    prefix: token.slice(0, visibleTokenChars),
    scopes: [...request.scopes],
    expiresAt: request.expiresAt,
    revokedAt: null,
    lastUsedAt: null,
    createdAt: now.toISOString(),
  };
  return { token, row };
}

export function createTokenAdmin(store: Store, clock: Clock): TokenAdmin {
  function change(
    audited: Author & { readonly businessId: string; readonly action: string },
    work: (transaction: PipelineTransaction) => Promise<TokenChange | undefined>,
  ): Promise<Token> {
    return withAudit(store, { ...audited, now: clock.now() }, async (transaction, _, context) => {
      const changed = await work(transaction);
      if (!changed) throw problem("not_found");
      const entry = createTokenEntry(context, changed);
      if (entry.changes.length > 0) await transaction.appendAudit([entry]);
      return changed.after;
    });
  }

  async function edit(tokenId: string, action: string, patch: TokenPatch, author: Author): Promise<Token> {
    const token = await store.getToken(tokenId);
    if (!token) throw problem("not_found");
    const { businessId } = token;
    return change({ ...author, businessId, action }, (transaction) => transaction.changeToken(tokenId, patch));
  }

  return {
    async create(request, author = commandLine) {
      const { businessId } = request;
      const { token, row } = createTokenRow(request, clock.now());
      await change({ ...author, businessId, action: "token.created" }, async (transaction) => {
        await transaction.insertToken(row);
        return { after: row };
      });
      return { tokenId: row.tokenId, token, businessId, scopes: row.scopes };
    },
    update: (tokenId, patch, author = commandLine) => edit(tokenId, "token.updated", patch, author),
    revoke: (tokenId, author = commandLine) =>
      edit(tokenId, "token.revoked", { revokedAt: clock.now().toISOString() }, author),
  };
}
