/** Matches a key of 32 bytes in hexadecimal. */
export const keyPattern = /^[0-9a-f]{64}$/i;
