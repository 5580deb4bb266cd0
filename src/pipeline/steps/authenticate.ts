import { getUserScopes, type User } from "../../contract/access/roles.ts";
import type { Scope } from "../../contract/access/scopes.ts";
import { tokenPattern } from "../../contract/access/token-format.ts";
import type { Token } from "../../contract/access/tokens.ts";
import { problem } from "../../contract/errors.ts";
import type { Clock } from "../../lib/clock.ts";
import { equalsInConstantTime, hashSha256Hex } from "../../lib/crypto/crypto.ts";
import type { Caller } from "../../store/handler-context.ts";
import type { Store } from "../../store/port.ts";

/**
 * Returns the caller of a bearer token (specification 5). Reads the store every time, so a revocation applies from the
 * next call on.
 * @throws Problem `unauthorized` without a token, `invalid_token` for one that is malformed, unknown, revoked or expired
 */
export async function authenticate(store: Store, clock: Clock, bearer: string | undefined): Promise<Caller> {
  if (bearer === undefined || bearer === "") throw problem("unauthorized");
  if (!tokenPattern.test(bearer)) throw problem("invalid_token");
  const sha256 = hashSha256Hex(bearer.toLowerCase());
  const token = await store.findToken(sha256);
  if (!token || !equalsInConstantTime(token.sha256, sha256)) throw problem("invalid_token");
  if (!isLive(token, clock.now())) throw problem("invalid_token");
  return toCaller(token);
}

const callers = new WeakMap<Token, Caller>();

function toCaller(token: Token): Caller {
  let caller = callers.get(token);
  if (!caller) {
    caller = { businessId: token.businessId, tokenId: token.tokenId, scopes: new Set(token.scopes) };
    callers.set(token, caller);
  }
  return caller;
}

/** Returns the caller for a person who is signed in. */
export function toUserCaller(user: User): Caller {
  const { businessId, userId } = user;
  return { businessId, tokenId: userId, userId, scopes: getUserScopes(user) };
}

/** Returns the scopes that a caller's token or person has now. Undefined if it may do nothing any more. */
export async function loadCurrentScopes(
  store: Store,
  { businessId, tokenId }: Pick<Caller, "businessId" | "tokenId">,
  now: Date,
): Promise<ReadonlySet<Scope> | undefined> {
  const token = await store.getToken(tokenId);
  if (token) return token.businessId === businessId && isLive(token, now) ? new Set(token.scopes) : undefined;
  const user = await store.users.get(tokenId);
  return user?.businessId === businessId && user.disabledAt === null ? getUserScopes(user) : undefined;
}

/** Returns whether a token is neither revoked nor expired. */
function isLive({ revokedAt, expiresAt }: Token, now: Date): boolean {
  return revokedAt === null && (expiresAt === null || expiresAt > now.toISOString());
}
