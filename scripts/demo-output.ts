import { styleText } from "node:util";

/** Prints tool calls, questions and answers for a person at a terminal. Questions are whole, long values are shortened. */

type Row = Readonly<Record<string, unknown>>;

const width = Math.min(process.stdout.columns ?? 100, 120);
const hasColors = process.stdout.isTTY && process.stdout.hasColors();
const maxRows = 6;
const maxCell = 44;

export function printHeading(text: string): void {
  console.log(paint("bold", `# ${text}`));
}

/** Prints a tool and its arguments, a line for each. */
export function printCall(tool: string, input: Row): void {
  console.log(paint("cyan", `→ ${tool}`));
  for (const [name, value] of Object.entries(input))
    console.log(`    ${shorten(`${name}: ${toText(value)}`, width - 4)}`);
}

export function printQuestion(message: string, reply: "yes" | "no"): void {
  const lines = message.split("\n").flatMap(wrap);
  console.log(paint("yellow", lines.map((line, index) => `${index === 0 ? "?" : " "} ${line}`).join("\n")));
  console.log(paint("green", `! ${reply}`));
}

/** Prints an answer: its first line after an arrow, the others below. */
export function printAnswer(lines: readonly string[]): void {
  const text = lines.map((line, index) => shorten(`${index === 0 ? "←" : " "} ${line}`, width));
  console.log(`${text.join("\n")}\n`);
}

/** Returns the lines of a table with these columns, and how many rows it leaves out. */
export function formatTable(rows: readonly Row[], columns: readonly string[]): string[] {
  const cells = rows.slice(0, maxRows).map((row) => columns.map((name) => shorten(toText(row[name]), maxCell)));
  const all = [[...columns], ...cells];
  const widths = columns.map((_, index) => Math.max(...all.map((line) => line[index]?.length ?? 0)));
  const lines = all.map((line) =>
    line
      .map((cell, index) => cell.padEnd(widths[index] ?? 0))
      .join("  ")
      .trimEnd(),
  );
  const left = rows.length - cells.length;
  return left > 0 ? [...lines, `… and ${left} more`] : lines;
}

/** Returns a line for each of these properties of a record. */
export function formatRecord(record: Row, names: readonly string[]): string[] {
  const longest = Math.max(...names.map((name) => name.length));
  return names.map((name) => `${name.padEnd(longest)}  ${toText(record[name])}`);
}

function toText(value: unknown): string {
  if (value === null || value === undefined) return "–";
  return typeof value === "string" ? value : JSON.stringify(value);
}

/** Breaks a line between words. Continued lines are indented. */
function wrap(line: string): string[] {
  const lines = line.match(new RegExp(`\\S.{0,${width - 5}}(?!\\S)|\\S+`, "gu")) ?? [""];
  return lines.map((part, index) => (index === 0 ? part : `  ${part}`));
}

function shorten(text: string, length: number): string {
  const characters = [...text];
  return characters.length > length ? `${characters.slice(0, length - 1).join("")}…` : text;
}

function paint(style: "bold" | "cyan" | "green" | "yellow", text: string): string {
  return hasColors ? styleText(style, text) : text;
}
