import { isAscii, toJsonText } from "../../lib/json-cache.ts";

type Row = Readonly<Record<string, unknown>>;

/**
 * Rows as a table: names of columns, then a line a row, separated by tabs. Columns without a value in any row are left
 * out; what is the same in all rows is said once. No text in a cell can end its cell or its line.
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

/** A record as JSON on one line. */
export function formatLine(record: unknown): string {
  const json = toJsonText(record);
  // Of the characters that end a line, JSON leaves none of ASCII as it is.
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

/** JSON leaves some characters alone that end a line all the same. */
function escapeLineEnds(text: string): string {
  return text.replace(/[\t\n\v\f\r\u0085\u2028\u2029]/g, (character) => {
    const code = character.charCodeAt(0).toString(16).padStart(4, "0");
    return escapes[character] ?? `\\u${code}`;
  });
}
