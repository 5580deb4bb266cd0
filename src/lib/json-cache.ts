/** For as long as each object lives. */
const written = new WeakMap<object, string>();

/**
 * The JSON text of a value. An object's is made once, however often it is asked for: to measure it, to look through it,
 * to show it, to send it. So what is given must not change afterwards.
 */
export function toJsonText(value: unknown): string {
  if (typeof value !== "object" || value === null) return JSON.stringify(value) ?? "null";
  let text = written.get(value);
  if (text === undefined) {
    text = JSON.stringify(value);
    written.set(value, text);
  }
  return text;
}

/**
 * The same text, put together of those that are known of the value's parts.
 * @param levels - how deep to look for such parts; records lie four deep in an MCP message
 */
export function composeJsonText(value: unknown, levels = 4): string {
  if (typeof value !== "object" || value === null) return JSON.stringify(value) ?? "null";
  const text = written.get(value);
  if (text !== undefined) return text;
  if (levels === 0) return JSON.stringify(value);
  if (Array.isArray(value)) {
    let items = "";
    for (const item of value) items += `${items === "" ? "" : ","}${composeJsonText(item, levels - 1)}`;
    return `[${items}]`;
  }
  let fields = "";
  for (const name of Object.keys(value)) {
    const inner = (value as Readonly<Record<string, unknown>>)[name];
    if (inner === undefined) continue;
    fields += `${fields === "" ? "" : ","}${quoteName(name)}:${composeJsonText(inner, levels - 1)}`;
  }
  return `{${fields}}`;
}

/** Names of fields, which are short and few, in quotes. */
const names = new Map<string, string>();
const maxNames = 1_000;
const maxNameChars = 64;

function quoteName(name: string): string {
  const known = names.get(name);
  if (known !== undefined) return known;
  const text = JSON.stringify(name);
  if (name.length <= maxNameChars && names.size < maxNames) names.set(name, text);
  return text;
}

/** @param bytes - how many the text has in UTF-8, where that is known */
export function isAscii(text: string, bytes = Buffer.byteLength(text)): boolean {
  return bytes === text.length;
}

/** How to write a text to a socket: one of ASCII alone is the same bytes in both encodings, and faster as Latin-1. */
export function chooseEncoding(text: string, bytes?: number): "latin1" | "utf8" {
  return isAscii(text, bytes) ? "latin1" : "utf8";
}

/** The size of a value as JSON. */
export function measureJsonBytes(value: unknown): number {
  return Buffer.byteLength(toJsonText(value));
}

/** How many rows from the first one come to no more than `maxBytes` in a JSON list. */
export function countRowsThatFit(rows: readonly unknown[], maxBytes: number): number {
  let bytes = 2;
  const over = rows.findIndex((row) => {
    bytes += measureJsonBytes(row) + 1;
    return bytes - 1 > maxBytes;
  });
  return over < 0 ? rows.length : over;
}
