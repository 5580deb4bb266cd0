/** Text as one line of a header: what followed a line break would be read as another header. At most 500 characters. */
export function toHeaderLine(text: string): string {
  return text.replace(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, " ").slice(0, 500);
}
