import { isObject } from "../../lib/is-object.ts";
import { isAscii, toJsonText } from "../../lib/json-cache.ts";

type Row = Readonly<Record<string, unknown>>;

/**
 * Formats rows as a table: column names, then one line per row, separated by tabs. Columns without values are omitted;
 * values common to all rows are shown once. Text in a cell can end neither its cell nor its line.
 */
export function formatTable(rows: readonly Row[]): string {
  const names = [...new Set(rows.flatMap((row) => Object.keys(row)))];
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

/** Formats a record as JSON on one line, and each of its lists of several records as a table below it. */
export function formatRecord(record: Row): string {
  const lists = Object.entries(record).filter((entry): entry is [string, Row[]] => isTable(entry[1]));
  if (lists.length === 0) return formatLine(record);
  const names = new Set(lists.map(([name]) => name));
  const rest = Object.fromEntries(Object.entries(record).filter(([name]) => !names.has(name)));
  const tables = lists.map(([name, rows]) => `${escapeVisible(name)}: ${rows.length} rows\n${formatTable(rows)}`);
  return [formatLine(rest), ...tables].join("\n");
}

function isTable(value: unknown): value is Row[] {
  return Array.isArray(value) && value.length > 1 && value.every(isObject);
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
