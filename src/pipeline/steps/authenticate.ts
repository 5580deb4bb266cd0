import { getUserScopes, type User } from "../../contract/access/roles.ts";
import type { Scope } from "../../contract/access/scopes.ts";
import { appTokenPattern, isLive, tokenPattern } from "../../contract/access/token-format.ts";
import type { Token } from "../../contract/access/tokens.ts";
import { problem } from "../../contract/errors.ts";
import type { Clock } from "../../lib/clock.ts";
import { equalsInConstantTime, hashSha256Hex, hashToken } from "../../lib/crypto/crypto.ts";
import { isLoopback } from "../../lib/http/loopback.ts";
import type { Caller } from "../../store/handler-context.ts";
import type { Store } from "../../store/port.ts";
import { confineScopes } from "./authorize.ts";

/**
 * Returns the caller of a bearer token (specification 5). Reads the store every time, so a revocation applies from the
 * next call on.
 * @throws Problem `unauthorized` without a token, `invalid_token` for one that is malformed, unknown, revoked or expired
 */
export async function authenticate(store: Store, clock: Clock, bearer: string | undefined): Promise<Caller> {
  if (bearer === undefined || bearer === "") throw problem("unauthorized");
  if (!tokenPattern.test(bearer)) throw problem("invalid_token");
  const sha256 = hashToken(bearer);
  const token = await store.findToken(sha256);
  if (!token || !equalsInConstantTime(token.sha256, sha256)) throw problem("invalid_token");
  if (!isLive(token, clock.now())) throw problem("invalid_token");
  return toCaller(token);
}

/**
 * Returns the caller of a bearer token of MCP, which may be the access token of a connected app. That one is good for
 * MCP alone (RFC 8707).
 * @throws Problem as `authenticate`
 */
export async function authenticateMcp(
  store: Store,
  clock: Clock,
  bearer: string | undefined,
  publicUrl: string | undefined,
): Promise<Caller> {
  return isAppToken(bearer) ? authenticateApp(store, clock, bearer, publicUrl) : authenticate(store, clock, bearer);
}

/** Returns whether a bearer token has the form of a connected app's. */
export function isAppToken(bearer: string | undefined): bearer is string {
  return bearer !== undefined && appTokenPattern.test(bearer);
}

/**
 * Returns the caller of a connected app's access token, with what its person may do now. Reads the store every time.
 * @throws Problem `invalid_token`
 */
export async function authenticateApp(
  store: Store,
  clock: Clock,
  bearer: string,
  publicUrl: string | undefined,
): Promise<AppCaller> {
  const access = await store.apps.findAccess(hashSha256Hex(bearer), clock.now().toISOString());
  if (!access?.resources.some((address) => isMcpAddress(address, publicUrl))) throw problem("invalid_token");
  const { connectionId: tokenId, user, scopes } = access;
  const { businessId, userId } = user;
  const attainable = getUserScopes(user);
  return { businessId, tokenId, userId, scopes: restrictScopes(scopes, attainable), attainable };
}

/** The caller of a connected app's access token. */
export type AppCaller = Required<Caller>;

/** Returns whether an address is that of this server's MCP endpoint. */
function isMcpAddress(address: string, publicUrl: string | undefined): boolean {
  if (publicUrl !== undefined) return address === `${publicUrl}/mcp`;
  // Without a public address, this server is known by the names of this machine.
  const url = URL.parse(address);
  return url !== null && isLoopback(url.hostname) && url.pathname === "/mcp";
}

/** Returns those of the scopes that the person who granted them has now. */
function restrictScopes(granted: readonly string[], allowed: ReadonlySet<Scope>): ReadonlySet<Scope> {
  return new Set([...allowed].filter((scope) => granted.includes(scope)));
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

/** Returns the scopes that a caller's token, connected app or person has now. Undefined if it may do nothing any more. */
export async function loadCurrentScopes(
  store: Store,
  { businessId, tokenId }: Pick<Caller, "businessId" | "tokenId">,
  now: Date,
): Promise<ReadonlySet<Scope> | undefined> {
  const token = await store.getToken(tokenId);
  if (token) return token.businessId === businessId && isLive(token, now) ? new Set(token.scopes) : undefined;
  const app = await store.apps.get(tokenId);
  const user = await store.users.get(app?.userId ?? tokenId);
  if (user?.businessId !== businessId || user.disabledAt !== null) return undefined;
  if (app?.expiresAt && app.expiresAt <= now.toISOString()) return undefined;
  return app ? restrictScopes(app.scopes, getUserScopes(user)) : getUserScopes(user);
}

/**
 * Confines a caller to the scopes that its token, connected app or person still has.
 * @throws Problem `invalid_token` if it may do nothing any more
 */
export async function confineToCurrentScopes(store: Store, caller: Caller, now: Date): Promise<Caller> {
  const current = await loadCurrentScopes(store, caller, now);
  if (!current) throw problem("invalid_token");
  return confineScopes(caller, current);
}
