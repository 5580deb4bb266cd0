/** Limits on the content of a JSON text. */
export interface JsonBounds {
  readonly maxDepth: number;
  readonly maxValues: number;
}

export type JsonExcess = "depth" | "values";

const [quote, comma, backslash] = [0x22, 0x2c, 0x5c];
const [openList, closeList, openObject, closeObject] = [0x5b, 0x5d, 0x7b, 0x7d];

/**
 * Returns which limit a JSON text exceeds, if any. This costs far less than parsing the text first. Stops at the first
 * excess, and leaves syntax errors to the parser.
 */
export function findJsonExcess(text: Buffer, { maxDepth, maxValues }: JsonBounds): JsonExcess | undefined {
  let depth = 0;
  let values = 1;
  for (let at = 0; at < text.length; at += 1) {
    const byte = text[at];
    if (byte === quote) at = endOfString(text, at);
    else if (byte === comma) values += 1;
    else if (byte === openList || byte === openObject) {
      depth += 1;
      values += 1;
    } else if (byte === closeList || byte === closeObject) depth -= 1;
    if (depth > maxDepth) return "depth";
    if (values > maxValues) return "values";
  }
  return undefined;
}

/** Returns the end of the string that begins here, or the end of the text if the string does not end. */
function endOfString(text: Buffer, start: number): number {
  const end = text.indexOf(quote, start + 1);
  if (end < 0) return text.length;
  // Most strings contain no escapes, and searching for a byte is faster than iterating.
  if (text[end - 1] !== backslash) return end;
  let at = start + 1;
  while (at < text.length && text[at] !== quote) at += text[at] === backslash ? 2 : 1;
  return at;
}
