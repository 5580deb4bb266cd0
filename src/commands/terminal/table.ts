import { paint } from "./paint.ts";

/**
 * Formats rows of text as aligned columns.
 * @param first - `header`: the first row has the column names
 */
export function formatColumns(rows: readonly (readonly string[])[], first: "header" | "row" = "row"): string {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  const formatRow = (row: readonly string[]) =>
    row
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join("  ")
      .trimEnd();
  const [head = "", ...rest] = rows.map(formatRow);
  return `${[first === "header" ? paint("bold", head) : head, ...rest].join("\n")}\n`;
}
