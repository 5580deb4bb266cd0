import { measureJsonBytes, measureRows } from "../../lib/json-cache.ts";
import { isObject } from "../../lib/json-value.ts";

type Row = Readonly<Record<string, unknown>>;

/** Leaves out the same fields of all rows of a list, so that more rows fit. */
export interface FieldOmitter {
  /** Returns a row without the fields that are left out. */
  toFittingRow(row: Row): Row;
  /** Returns the rows with as few fields left out as make them fit, or with the required ones alone. */
  fit(rows: readonly Row[], maxBytes: number): readonly Row[];
  /** Returns the paths of the fields that are left out. */
  listOmitted(): readonly string[];
}

/** @param requiredFields - fields that always stay */
export function createFieldOmitter(requiredFields: readonly string[]): FieldOmitter {
  const omitted = new Set<string>();
  const toFittingRow = (row: Row) => (omitted.size === 0 ? row : omitPaths(row, omitted));

  function fit(rows: readonly Row[], maxBytes: number): readonly Row[] {
    let fitted = rows.map(toFittingRow);
    // Sizes of fields do not include commas and braces, so one round may not suffice.
    for (;;) {
      if (measureRows(fitted, maxBytes).count === fitted.length) return fitted;
      const bytes = measureFields(fitted, requiredFields);
      if (bytes.size === 0) return fitted;
      let excess = measureJsonBytes(fitted) - maxBytes;
      for (const [path, size] of [...bytes].toSorted((one, other) => other[1] - one[1])) {
        if (excess <= 0) break;
        omitted.add(path);
        excess -= size;
      }
      fitted = rows.map(toFittingRow);
    }
  }

  return { toFittingRow, fit, listOmitted: () => [...omitted] };
}

/** Measures each field over all rows: the fields of a record, and inside maps the fields of each map. */
function measureFields(rows: readonly Row[], requiredFields: readonly string[]): ReadonlyMap<string, number> {
  const bytes = new Map<string, number>();
  const add = (path: string, name: string, value: unknown) =>
    bytes.set(path, (bytes.get(path) ?? 0) + measureJsonBytes(name) + measureJsonBytes(value) + 1);
  for (const row of rows) {
    for (const [name, value] of Object.entries(row)) {
      if (requiredFields.includes(name)) continue;
      if (!hasFields(value)) add(name, name, value);
      else for (const [key, inner] of Object.entries(value)) add(`${name}.${key}`, key, inner);
    }
  }
  return bytes;
}

function omitPaths(row: Row, omitted: ReadonlySet<string>): Row {
  const entries = Object.entries(row).flatMap(([name, value]): [string, unknown][] => {
    if (omitted.has(name)) return [];
    if (!hasFields(value)) return [[name, value]];
    const kept = Object.entries(value).filter(([key]) => !omitted.has(`${name}.${key}`));
    // An empty map would say that there is nothing in it.
    return kept.length > 0 ? [[name, Object.fromEntries(kept)]] : [];
  });
  return Object.fromEntries(entries);
}

function hasFields(value: unknown): value is Row {
  return isObject(value) && Object.keys(value).length > 0;
}
