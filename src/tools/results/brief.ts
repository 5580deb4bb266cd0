import { type CallName, operations } from "../../contract/index.ts";
import { measureJsonBytes } from "../../lib/json-cache.ts";
import { isObject } from "../../lib/json-value.ts";
import { getRecordSchema, listRecordFields, pickFields, type Selection } from "./field-selection.ts";

type Row = Readonly<Record<string, unknown>>;

/** Fields that say where a record stands. */
const stateFields = ["state", "previousState", "status", "lifecycleStatus", "active"];

/** Most values of the input that a brief answer repeats, and most bytes of each. */
const maxGivenPaths = 50;
const maxGivenBytes = 300;

/**
 * Selects what the answer of a write shows by default: the record's id, state and version, what the operation changes,
 * and the fields that the input names. Long values are noted instead of repeated.
 */
export function selectChanges(name: CallName, input: Row, data: unknown): Selection {
  const { changes } = operations[name];
  const fields = listRecordFields(getRecordSchema(name));
  if (!isObject(data) || !(changes || fields.includes("version"))) return { paths: undefined, notes: [] };
  const given = Object.entries(input)
    .filter(([field]) => fields.includes(field))
    .flatMap(([field, value]) => (isObject(value) ? Object.keys(value).map((key) => `${field}.${key}`) : [field]));
  const isShort = (path: string) => measureJsonBytes(pickFields(data, [path])) <= maxGivenBytes;
  const repeated = new Set(given.slice(0, maxGivenPaths).filter(isShort));
  const omitted = given.filter((path) => !repeated.has(path));
  return {
    paths: [...stateFields, ...(changes ?? []), ...repeated],
    notes: omitted.length > 0 ? [`Set as given, and not repeated here: ${formatPaths(omitted)}.`] : [],
  };
}

const maxNamed = 20;

/** Formats paths as a list of which the last ones are counted. */
export function formatPaths(paths: readonly string[]): string {
  const more = paths.length > maxNamed ? ` and ${paths.length - maxNamed} more` : "";
  return `${paths.slice(0, maxNamed).join(", ")}${more}`;
}
