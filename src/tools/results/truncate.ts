import { countRowsThatFit, measureJsonBytes } from "../../lib/json-cache.ts";

type Row = Readonly<Record<string, unknown>>;

export interface TruncatedRecord {
  readonly record: Row;
  /** Paths of what was left out and can be had alone. */
  readonly left: readonly string[];
  /** What was shortened because not even alone it fits, a sentence each. */
  readonly cut: readonly string[];
}

interface Fitting {
  /** The most that one part may come to if it is asked for alone. */
  readonly aloneBytes: number;
  readonly left: string[];
  readonly cut: string[];
}

/**
 * A record made to fit: the largest fields are left out; what would not fit alone either is shortened.
 *
 * @param kept - fields that stay whatever their size
 */
export function truncateRecord(record: Row, kept: readonly string[], maxBytes: number): TruncatedRecord {
  const always = Object.fromEntries(
    kept.filter((name) => Object.hasOwn(record, name)).map((name) => [name, record[name]]),
  );
  const baseBytes = measureJsonBytes(always);
  const fitting: Fitting = { aloneBytes: maxBytes - baseBytes, left: [], cut: [] };
  const rest = Object.fromEntries(Object.entries(record).filter(([name]) => !Object.hasOwn(always, name)));
  const fitted = { ...always, ...fitObject(rest, maxBytes - baseBytes, "", fitting) };
  const ordered = Object.keys(record).filter((name) => Object.hasOwn(fitted, name));
  const { left, cut } = fitting;
  return { record: Object.fromEntries(ordered.map((name) => [name, fitted[name]])), left, cut };
}

function fitObject(object: Row, roomBytes: number, path: string, fitting: Fitting): Row {
  const fields = Object.entries(object).map(([name, value]) => ({
    name,
    value,
    bytes: measureJsonBytes({ [name]: value }),
  }));
  const taken = new Map<string, unknown>();
  let room = roomBytes - 2;
  for (const { name, value, bytes } of fields.toSorted((a, b) => a.bytes - b.bytes)) {
    const at = path === "" ? name : `${path}.${name}`;
    const shown =
      bytes <= room
        ? value
        : bytes <= fitting.aloneBytes
          ? undefined
          : fitPart(value, room - measureJsonBytes(name) - 2, at, fitting);
    if (shown === undefined) fitting.left.push(at);
    else taken.set(name, shown);
    room -= shown === undefined ? 0 : measureJsonBytes({ [name]: shown });
  }
  return Object.fromEntries(fields.flatMap(({ name }) => (taken.has(name) ? [[name, taken.get(name)]] : [])));
}

function fitPart(value: unknown, roomBytes: number, path: string, fitting: Fitting): unknown {
  if (typeof value === "string") return fitText(value, roomBytes, path, fitting);
  if (Array.isArray(value)) {
    const count = countRowsThatFit(value, roomBytes);
    fitting.cut.push(`${path}: the first ${count} of ${value.length} are shown.`);
    return value.slice(0, count);
  }
  if (typeof value !== "object" || value === null || roomBytes < 2) return undefined;
  return fitObject(value as Row, roomBytes, path, fitting);
}

function fitText(text: string, roomBytes: number, path: string, fitting: Fitting): string | undefined {
  let chars = Math.min(text.length, roomBytes);
  while (chars > 0 && measureJsonBytes(text.slice(0, chars)) > roomBytes) chars = Math.floor(chars * 0.9);
  if (chars <= 0) return undefined;
  // A cut must not leave half of a surrogate pair.
  const shown = text.slice(0, chars).replace(/[\ud800-\udbff]$/, "");
  fitting.cut.push(`${path}: the first ${shown.length} of ${text.length} characters are shown.`);
  return shown;
}
