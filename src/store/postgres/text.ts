/** PostgreSQL has no place for U+0000 in text. It is kept as two characters that are none in any language. */
const [mark, nul] = ["\uffff", "\uffff\ufffe"];

export function encodeText(text: string): string {
  if (!text.includes("\0") && !text.includes(mark)) return text;
  return text.replaceAll(mark, mark + mark).replaceAll("\0", nul);
}

export function decodeText(text: string): string {
  if (!text.includes(mark)) return text;
  return text.replace(/\uffff([\ufffe\uffff])/g, (_, kept) => (kept === mark ? mark : "\0"));
}
