/** How much of a token may be shown, to tell it from others. */
export const shownTokenChars = 6;

/** 64 hexadecimal characters (specification 5.1). */
export const tokenPattern = /^[0-9a-f]{64}$/i;
