import { measureJsonBytes, measureRows } from "../../lib/json-cache.ts";

type Row = Readonly<Record<string, unknown>>;

export interface TruncatedRecord {
  readonly record: Row;
  /** Paths of omitted fields that can be read on their own. */
  readonly omitted: readonly string[];
  /** Sentences about values that were shortened because they do not fit even on their own. */
  readonly shortened: readonly string[];
}

interface Truncation {
  /** Most bytes of a field that is read on its own. */
  readonly aloneBytes: number;
  readonly omitted: string[];
  readonly shortened: string[];
}

/**
 * Truncates a record to fit: the largest fields are omitted, and fields that would not fit even on their own are
 * shortened.
 * @param kept - fields that always stay
 */
export function truncateRecord(record: Row, requiredFields: readonly string[], maxBytes: number): TruncatedRecord {
  const required = Object.fromEntries(
    requiredFields.filter((name) => Object.hasOwn(record, name)).map((name) => [name, record[name]]),
  );
  const baseBytes = measureJsonBytes(required);
  const truncation: Truncation = { aloneBytes: maxBytes - baseBytes, omitted: [], shortened: [] };
  const rest = Object.fromEntries(Object.entries(record).filter(([name]) => !Object.hasOwn(required, name)));
  const fitted = { ...required, ...fitObject(rest, maxBytes - baseBytes, "", truncation) };
  const ordered = Object.keys(record).filter((name) => Object.hasOwn(fitted, name));
  const { omitted: left, shortened: cut } = truncation;
  return { record: Object.fromEntries(ordered.map((name) => [name, fitted[name]])), omitted: left, shortened: cut };
}

function fitObject(object: Row, roomBytes: number, path: string, truncation: Truncation): Row {
  const fields = Object.entries(object).map(([name, value]) => ({
    name,
    value,
    bytes: measureJsonBytes({ [name]: value }),
  }));
  const fitted = new Map<string, unknown>();
  let room = roomBytes - 2;
  for (const { name, value, bytes } of fields.toSorted((a, b) => a.bytes - b.bytes)) {
    const at = path === "" ? name : `${path}.${name}`;
    const fittingValue =
      bytes <= room
        ? value
        : bytes <= truncation.aloneBytes
          ? undefined
          : fitPart(value, room - measureJsonBytes(name) - 2, at, truncation);
    if (fittingValue === undefined) truncation.omitted.push(at);
    else fitted.set(name, fittingValue);
    room -= fittingValue === undefined ? 0 : measureJsonBytes({ [name]: fittingValue });
  }
  return Object.fromEntries(fields.flatMap(({ name }) => (fitted.has(name) ? [[name, fitted.get(name)]] : [])));
}

function fitPart(value: unknown, roomBytes: number, path: string, truncation: Truncation): unknown {
  if (typeof value === "string") return fitText(value, roomBytes, path, truncation);
  if (Array.isArray(value)) {
    const count = measureRows(value, roomBytes).count;
    truncation.shortened.push(`${path}: the first ${count} of ${value.length} are shown.`);
    return value.slice(0, count);
  }
  if (typeof value !== "object" || value === null || roomBytes < 2) return undefined;
  return fitObject(value as Row, roomBytes, path, truncation);
}

function fitText(text: string, roomBytes: number, path: string, truncation: Truncation): string | undefined {
  let chars = Math.min(text.length, roomBytes);
  while (chars > 0 && measureJsonBytes(text.slice(0, chars)) > roomBytes) chars = Math.floor(chars * 0.9);
  if (chars <= 0) return undefined;
  // A truncated text must not end with half of a surrogate pair.
  const fittingValue = text.slice(0, chars).replace(/[\ud800-\udbff]$/, "");
  truncation.shortened.push(`${path}: the first ${fittingValue.length} of ${text.length} characters are shown.`);
  return fittingValue;
}
