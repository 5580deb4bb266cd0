import type { Token } from "./tokens.ts";

/** The number of characters of a token that may be shown to identify it. */
export const visibleTokenChars = 6;

/** An access token: 64 hexadecimal characters (specification 5.1). */
export const tokenPattern = /^[0-9a-f]{64}$/i;

/** Begins the access tokens of connected apps. */
export const appTokenPrefix = "app_";
/** An access token of a connected app: 256 random bits as hexadecimal characters. */
export const appTokenPattern = /^app_[0-9a-f]{64}$/;

/** Returns whether a token is neither revoked nor expired. */
export function isLive({ revokedAt, expiresAt }: Pick<Token, "revokedAt" | "expiresAt">, now: Date): boolean {
  return revokedAt === null && (expiresAt === null || expiresAt > now.toISOString());
}
