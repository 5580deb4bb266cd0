/** PostgreSQL text cannot contain U+0000. It is stored as two Unicode noncharacters. */
const [mark, nul] = ["\uffff", "\uffff\ufffe"];

export function encodeText(text: string): string {
  if (!text.includes("\0") && !text.includes(mark)) return text;
  return text.replaceAll(mark, mark + mark).replaceAll("\0", nul);
}

export function decodeText(text: string): string {
  if (!text.includes(mark)) return text;
  return text.replace(/\uffff([\ufffe\uffff])/g, (_, character) => (character === mark ? mark : "\0"));
}
