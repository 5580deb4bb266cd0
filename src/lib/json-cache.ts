interface WrittenText {
  readonly text: string;
  /** The size of the text as UTF-8, once it was measured. */
  bytes?: number;
}

/** Texts are cached as long as their objects live. */
const written = new WeakMap<object, WrittenText>();

/**
 * Returns the JSON text of a value. The text of an object is cached, because it is needed several times: to measure
 * it, to check it, to show it and to send it. This saves 7 µs a record, and 61 µs of a `tools/list`
 * (docs/decisions/0009-fast-path.md). The object must not change afterwards.
 */
export function toJsonText(value: unknown): string {
  return typeof value === "object" && value !== null ? write(value).text : (JSON.stringify(value) ?? "null");
}

function write(value: object): WrittenText {
  const known = written.get(value);
  if (known) return known;
  const created = { text: JSON.stringify(value) };
  written.set(value, created);
  return created;
}

/**
 * Returns the same text, composed of the cached texts of the value's parts.
 * @param levels - depth of the search for such parts; records are four levels deep in an MCP message
 */
export function composeJsonText(value: unknown, levels = 4): string {
  if (typeof value !== "object" || value === null) return JSON.stringify(value) ?? "null";
  const known = written.get(value);
  if (known) return known.text;
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

/** Quoted names of fields, which are short and few. */
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

/** Returns the size of a value as JSON. */
export function measureJsonBytes(value: unknown): number {
  if (typeof value !== "object" || value === null) return Buffer.byteLength(toJsonText(value));
  const known = write(value);
  known.bytes ??= Buffer.byteLength(known.text);
  return known.bytes;
}

/** Returns whether the JSON text of a value has ASCII characters only. */
export function isAsciiJson(value: unknown): boolean {
  return measureJsonBytes(value) === toJsonText(value).length;
}

/** Returns how many of the first rows fit into a JSON list of `maxBytes`, and the size of the list of these. */
export function measureRows(rows: readonly unknown[], maxBytes = Number.POSITIVE_INFINITY) {
  let bytes = 2;
  for (const [count, row] of rows.entries()) {
    const longer = bytes + measureJsonBytes(row) + (count === 0 ? 0 : 1);
    if (longer > maxBytes) return { count, bytes };
    bytes = longer;
  }
  return { count: rows.length, bytes };
}
