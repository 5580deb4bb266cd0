import { isObject } from "../../lib/is-object.ts";
import { isAscii, toJsonText } from "../../lib/json-cache.ts";

type Row = Readonly<Record<string, unknown>>;

/** Most columns of a table whose objects are spread. Names in free-form maps are as many as their authors like. */
const maxColumns = 64;

/**
 * Formats rows as a table: column names, then one line per row, separated by tabs. A field of an object is a column of
 * its own, named by its path. Columns without values are omitted; values common to all rows are shown once. Text in a
 * cell can end neither its cell nor its line.
 */
export function formatTable(records: readonly Row[]): string {
  const spread = records.map((record) => spreadObjects(record));
  const names = listNames(spread);
  return names.length > maxColumns ? formatColumns(records, listNames(records)) : formatColumns(spread, names);
}

function formatColumns(rows: readonly Row[], names: readonly string[]): string {
  const columns = names
    .map((name) => ({ name, cells: rows.map((row) => formatCell(row[name])) }))
    .filter(({ cells }) => cells.some((cell) => cell !== ""));
  const same = rows.length > 1 ? columns.filter(({ cells }) => cells.every((cell) => cell === cells[0])) : [];
  const varying = columns.filter((column) => !same.includes(column));
  const table = varying.length > 0 ? varying : columns;
  const lines = [
    table.map(({ name }) => escapeVisible(name)),
    ...rows.map((_, row) => table.map(({ cells }) => cells[row] ?? "")),
  ];
  const once = same.map(({ name, cells }) => `${escapeVisible(name)}=${cells[0]}`);
  return [
    ...(varying.length > 0 && once.length > 0 ? [`In every row: ${once.join("\t")}`] : []),
    ...lines.map((cells) => cells.join("\t")),
  ].join("\n");
}

function listNames(rows: readonly Row[]): string[] {
  return [...new Set(rows.flatMap((row) => Object.keys(row)))];
}

/** Replaces objects by their fields, as in `scores.mean`, and objects within these. */
function spreadObjects(record: Row, levels = 3): Row {
  if (levels === 0 || !Object.values(record).some(isObject)) return record;
  const entries = Object.entries(record).flatMap(([name, value]) => {
    const fields = isObject(value) ? Object.entries(spreadObjects(value, levels - 1)) : [];
    if (fields.length === 0) return [[name, value] as const];
    return fields.map(([field, inner]) => [`${name}.${field}`, inner] as const);
  });
  return Object.fromEntries(entries);
}

/** Formats a record as JSON on one line, and each of its lists of records below it. */
export function formatRecord(record: Row): string {
  if (!Object.values(record).some(isListOfRecords)) return formatLine(record);
  const lists = Object.entries(record).filter((entry): entry is [string, Row[]] => isListOfRecords(entry[1]));
  const names = new Set(lists.map(([name]) => name));
  const rest = Object.fromEntries(Object.entries(record).filter(([name]) => !names.has(name)));
  return [formatLine(rest), ...lists.map(([name, rows]) => formatList(escapeVisible(name), rows))].join("\n");
}

/** Formats a list as a table, or record by record if these have lists of their own. */
function formatList(name: string, rows: readonly Row[]): string {
  if (rows.some((row) => Object.values(row).some(isListOfRecords)))
    return rows.map((row, index) => `${name} ${index + 1}: ${formatRecord(row)}`).join("\n");
  return `${name}: ${rows.length} ${rows.length === 1 ? "row" : "rows"}\n${formatTable(rows)}`;
}

function isListOfRecords(value: unknown): value is Row[] {
  return Array.isArray(value) && value.length > 0 && value.every(isObject);
}

/** Formats a value as JSON on one line. */
export function formatLine(record: unknown): string {
  const json = toJsonText(record);
  // JSON escapes all ASCII characters that end a line.
  return isAscii(json) ? json : escapeLineEnds(json);
}

function formatCell(value: unknown): string {
  if (value === undefined || value === null) return "";
  if (value === "") return '""';
  if (typeof value === "string") return escapeVisible(value);
  return typeof value === "object" ? formatLine(value) : String(value);
}

function escapeVisible(text: string): string {
  return escapeLineEnds(text.replaceAll("\\", "\\\\"));
}

const escapes: Readonly<Record<string, string>> = { "\t": "\\t", "\n": "\\n", "\r": "\\r" };

/** Escapes line ends that JSON text may contain. */
function escapeLineEnds(text: string): string {
  return text.replace(/[\t\n\v\f\r\u0085\u2028\u2029]/g, (character) => {
    const code = character.charCodeAt(0).toString(16).padStart(4, "0");
    return escapes[character] ?? `\\u${code}`;
  });
}
