/** How many characters of a token may be shown to identify it. */
export const visibleTokenChars = 6;

/** An access token: 64 hexadecimal characters (specification 5.1). */
export const tokenPattern = /^[0-9a-f]{64}$/i;
