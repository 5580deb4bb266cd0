import { isAsciiJson, toJsonText } from "../../lib/json-cache.ts";
import { isObject } from "../../lib/json-value.ts";

type Row = Readonly<Record<string, unknown>>;

/** Most columns of a table whose objects are spread. Names in free-form maps are as many as their authors like. */
const maxColumns = 64;

/** The number of levels of objects within a row that are spread. */
const spreadLevels = 3;

interface Column {
  readonly name: string;
  /** A cell for each row, empty where the row has no value. */
  readonly cells: readonly string[];
}

/**
 * Formats rows as a table: column names, then one line per row, separated by tabs. A field of an object is a column of
 * its own, named by its path. Columns without values are omitted; values common to all rows are shown once. Text in a
 * cell can end neither its cell nor its line.
 */
export function formatTable(records: readonly Row[]): string {
  const spread = listColumns(records, spreadLevels);
  const columns = spread.length > maxColumns ? listColumns(records, 0) : spread;
  const filled = columns.filter(({ cells }) => cells.some((cell) => cell !== ""));
  const isVarying = ({ cells }: Column) => records.length === 1 || cells.some((cell) => cell !== cells[0]);
  const varying = filled.filter(isVarying);
  const table = varying.length > 0 ? varying : filled;
  const once = filled.flatMap((column) =>
    isVarying(column) ? [] : `${escapeVisible(column.name)}=${column.cells[0]}`,
  );
  return [
    ...(varying.length > 0 && once.length > 0 ? [`In every row: ${once.join("\t")}`] : []),
    table.map(({ name }) => escapeVisible(name)).join("\t"),
    ...records.map((_, row) => table.map(({ cells }) => cells[row]).join("\t")),
  ].join("\n");
}

/** Lists the columns of rows in the order of their first values, with the fields of objects, as in `scores.mean`. */
function listColumns(records: readonly Row[], levels: number): readonly Column[] {
  const cellsByName = new Map<string, string[]>();
  const addCells = (fields: Row, row: number, prefix: string, levelsLeft: number) => {
    for (const [field, value] of Object.entries(fields)) {
      const name = prefix + field;
      if (levelsLeft > 0 && isObject(value) && Object.keys(value).length > 0) {
        addCells(value, row, `${name}.`, levelsLeft - 1);
        continue;
      }
      const cells = cellsByName.get(name) ?? new Array<string>(records.length).fill("");
      cells[row] = formatCell(value);
      cellsByName.set(name, cells);
    }
  };
  for (const [row, record] of records.entries()) addCells(record, row, "", levels);
  return [...cellsByName].map(([name, cells]) => ({ name, cells }));
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
  return isAsciiJson(record) ? json : escapeLineEnds(json);
}

function formatCell(value: unknown): string {
  if (value === undefined || value === null) return "";
  if (value === "") return '""';
  if (typeof value === "string") return escapeVisible(value);
  return typeof value === "object" ? formatLine(value) : String(value);
}

function escapeVisible(text: string): string {
  return special.test(text) ? escapeLineEnds(text.replaceAll("\\", "\\\\")) : text;
}

/** Matches what is escaped in a cell: most texts have none of it. */
const special = /[\\\t\n\v\f\r\u0085\u2028\u2029]/;

const escapes: Readonly<Record<string, string>> = { "\t": "\\t", "\n": "\\n", "\r": "\\r" };

/** Escapes line ends that JSON text may contain. */
function escapeLineEnds(text: string): string {
  return text.replace(/[\t\n\v\f\r\u0085\u2028\u2029]/g, (character) => {
    const code = character.charCodeAt(0).toString(16).padStart(4, "0");
    return escapes[character] ?? `\\u${code}`;
  });
}
