import type { ConnectedApp } from "../../contract/access/connected-apps.ts";
import { appTokenPrefix } from "../../contract/access/token-format.ts";
import type { Token } from "../../contract/access/tokens.ts";
import { problem } from "../../contract/errors.ts";
import type { Caller } from "../../store/handler-context.ts";
import type { Business, Store } from "../../store/port.ts";
import type { Rate, RateLimiter } from "../rate-limiter.ts";

/** A token, its organisation and the rest of its rate. */
export interface TokenDescription {
  readonly token: Pick<Token, "tokenId" | "name" | "prefix" | "expiresAt">;
  readonly business: Pick<Business, "businessId" | "name">;
  readonly rate: Rate;
}

/** @throws Problem `invalid_token` for a token that was deleted since it was authenticated */
export async function describeToken(
  store: Store,
  limiter: RateLimiter,
  { tokenId, businessId }: Caller,
): Promise<TokenDescription> {
  const token = (await store.getToken(tokenId)) ?? describeApp(await store.apps.get(tokenId));
  const business = (await store.listBusinesses()).find((each) => each.businessId === businessId);
  if (!token || !business) throw problem("invalid_token");
  return { token, business, rate: await limiter.peek(tokenId) };
}

/** Describes a connected app, which renews its tokens by itself. */
function describeApp(app: ConnectedApp | undefined): TokenDescription["token"] | undefined {
  return app && { tokenId: app.connectionId, name: app.name, prefix: appTokenPrefix, expiresAt: null };
}
