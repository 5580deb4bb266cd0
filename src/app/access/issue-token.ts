import { createTokenRow, type IssuedToken, type TokenRequest } from "../../pipeline/tokens/tokens.ts";
import type { Store } from "../../store/port.ts";

/** Creates a token for this program itself, without an audit entry. */
export async function issueToken(store: Pick<Store, "insertToken">, request: TokenRequest): Promise<IssuedToken> {
  const { token, row } = createTokenRow(request, new Date());
  await store.insertToken(row);
  return { tokenId: row.tokenId, token, businessId: row.businessId, scopes: row.scopes };
}
