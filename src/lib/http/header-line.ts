/**
 * Returns text as one header line of at most 500 characters. Line breaks are removed, because text after one would be
 * another header.
 */
export function toHeaderLine(text: string): string {
  return text.replace(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, " ").slice(0, 500);
}
