import { stringify } from "csv-stringify/sync";
import type { Cell, RecordTable, TableFormat } from "../../pages/components/table.ts";

const contentTypes: Readonly<Record<TableFormat, string>> = {
  csv: "text/csv; charset=utf-8",
  xlsx: "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
};

/** Characters that XML, and so XLSX, cannot have. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what it finds
const forbiddenChars = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/g;
/** The most that a cell of XLSX can have. */
const maxCellChars = 32_767;

/**
 * Returns a table as a file to save. Spreadsheets run no text of it as a formula: CSV has an apostrophe before such
 * texts, and cells of XLSX are declared as texts.
 */
export async function createTableFile<Row>(
  table: RecordTable<Row>,
  format: TableFormat,
  name: string,
): Promise<Response> {
  const cells = [
    table.columns.map(({ header }) => header),
    ...table.rows.map((row) => table.columns.map(({ value }) => value(row))),
  ];
  const body = format === "csv" ? stringify(cells, { bom: true, escape_formulas: true }) : await createWorkbook(cells);
  return new Response(body, {
    headers: {
      "content-type": contentTypes[format],
      "content-disposition": `attachment; filename="${name}.${format}"`,
    },
  });
}

/** @param cells - rows, the first of them the headers */
async function createWorkbook(cells: readonly (readonly Cell[])[]): Promise<Uint8Array<ArrayBuffer>> {
  const { default: writeExcelFile } = await import("write-excel-file/node");
  const sheet = cells.map((row, index) => row.map((cell) => createCell(cell, index === 0)));
  return new Uint8Array(await writeExcelFile(sheet, { stickyRowsCount: 1 }).toBuffer());
}

function createCell(cell: Cell, isHeader: boolean) {
  if (cell === null) return null;
  if (typeof cell === "number") return { type: Number, value: cell };
  const value = cell.replaceAll(forbiddenChars, "").toWellFormed().slice(0, maxCellChars);
  return { type: String, value, ...(isHeader ? { fontWeight: "bold" as const } : {}) };
}
