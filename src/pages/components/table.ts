import { html } from "hono/html";
import { renderTable, type SortOrder } from "./data-table.ts";
import { formatMinute } from "./format.ts";

/** A value as it is shown, and written to files. Null if there is none. */
export type Cell = string | number | null;

export interface RecordColumn<Row> {
  readonly header: string;
  readonly value: (row: Row) => Cell;
  /** Renders the cell where a page shows more than the value, such as a link. */
  readonly render?: (row: Row) => unknown;
}

/** A table, for a page or a file. Its first column names the rows. */
export interface RecordTable<Row> {
  readonly caption: string;
  readonly columns: readonly RecordColumn<Row>[];
  readonly rows: readonly Row[];
  /** The sentence that replaces a table without rows. */
  readonly empty: string;
  /** The order of the rows, if a reader can choose it. */
  readonly sort?: SortOrder;
}

/** Creates a column of times. */
export function createTimeColumn<Row>(header: string, pick: (row: Row) => string | null): RecordColumn<Row> {
  return {
    header,
    value: (row) => formatMinute(pick(row)) || null,
    render: (row) => html`<time>${formatMinute(pick(row)) || "–"}</time>`,
  };
}

/** Formats of tables as files. */
export const tableFormats = ["csv", "xlsx"] as const;
export type TableFormat = (typeof tableFormats)[number];

export function renderRecords<Row>({ columns, rows, ...table }: RecordTable<Row>) {
  const headings = columns.map(({ header }) => header);
  return renderTable({ ...table, headings, rows: rows.map((row) => columns.map((column) => renderCell(column, row))) });
}

function renderCell<Row>({ value, render = value }: RecordColumn<Row>, row: Row): unknown {
  return render(row) ?? "–";
}

/** Renders links to a table as a file. The address is that of the page. */
export function renderDownloads(path: string, query: Readonly<Record<string, string | undefined>> = {}) {
  return html`<p class="downloads">
    Download:
    ${tableFormats.map(
      (format) => html`<a href="${formatAddress(path, { ...query, format })}" download>${format.toUpperCase()}</a> `,
    )}
  </p>`;
}

/** Returns a path with the parameters that have a value. */
export function formatAddress(path: string, query: Readonly<Record<string, string | undefined>>): string {
  const given = Object.entries(query).filter((entry): entry is [string, string] => Boolean(entry[1]));
  return given.length === 0 ? path : `${path}?${new URLSearchParams(given)}`;
}

/** Returns a table in another order. Cells without a value come last. */
export function sortRecords<Row>(table: RecordTable<Row>, sort: SortOrder): RecordTable<Row> {
  const value = table.columns[sort.column]?.value ?? (() => null);
  const compare = (a: Cell, b: Cell) =>
    typeof a === "number" && typeof b === "number" ? a - b : String(a).localeCompare(String(b));
  const rows = table.rows.toSorted((one, other) => {
    const [a, b] = [value(one), value(other)];
    if (a === null || b === null) return Number(a === null) - Number(b === null);
    return sort.descending ? compare(b, a) : compare(a, b);
  });
  return { ...table, rows, sort };
}
