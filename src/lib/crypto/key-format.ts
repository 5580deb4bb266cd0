/** A key as it is written down: 32 bytes in hexadecimal. */
export const keyPattern = /^[0-9a-f]{64}$/i;
