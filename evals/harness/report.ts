import type { TaskResult } from "./run-task.ts";
import type { TaskKind } from "./task.ts";

/** The results of one agent on all tasks. */
export interface EvalReport {
  /** The agent, and the server or the tools that it used. */
  readonly title: string;
  readonly results: readonly TaskResult[];
}

/** Kinds of tasks whose sums are compared with the goal. */
const staffKinds: readonly TaskKind[] = ["reading", "writing"];

type Measure = (result: TaskResult) => number;

const measures: Readonly<Record<string, Measure>> = {
  calls: ({ calls }) => calls,
  "failed calls": ({ failedCalls }) => failedCalls,
  "bytes read": ({ bytes }) => bytes,
  tokens: ({ tokens }) => tokens,
  questions: ({ questions }) => questions,
  "addresses seen": ({ addresses }) => addresses,
  "unasked changes": ({ unaskedChanges }) => unaskedChanges,
};

/** Formats a report as a Markdown table, with the sums of the staff's work and of all tasks. */
export function formatReport({ title, results }: EvalReport): string {
  const names = Object.keys(measures);
  const formatRow = (label: string, kind: string, rows: readonly TaskResult[]) => [
    label,
    kind,
    formatDone(rows),
    ...names.map((name) => String(sumUp(rows, measures[name]))),
  ];
  const findings = results.flatMap(({ task, findings }) => findings.map((finding) => `- ${task}: ${finding}`));
  return [
    `## ${title}`,
    "",
    ...formatTable(["task", "kind", "done", ...names], 3, listRows(results, formatRow)),
    ...(findings.length > 0 ? ["", "Not done:", "", ...findings] : []),
    "",
  ].join("\n");
}

/** Formats how many calls and bytes several agents needed for the same tasks. */
export function formatComparison(reports: readonly EvalReport[]): string {
  const formatRow = (label: string, kind: string, rows: readonly TaskResult[]) => {
    const tasks = new Set(rows.map(({ task }) => task));
    const byReport = reports.map(({ results }) => results.filter(({ task }) => tasks.has(task)));
    const compare = (name: string) => byReport.map((each) => String(sumUp(each, measures[name])));
    return [label, kind, ...byReport.map(formatDone), ...compare("calls"), ...compare("bytes read")];
  };
  const name = (column: string) => reports.map(({ title }) => `${column}, ${title}`);
  const columns = ["task", "kind", ...name("done"), ...name("calls"), ...name("bytes read")];
  return formatTable(columns, 2 + reports.length, listRows(reports[0]?.results ?? [], formatRow)).join("\n");
}

/** Returns a row for each result, and the sums of the staff's work and of all tasks. */
function listRows(
  results: readonly TaskResult[],
  formatRow: (label: string, kind: string, rows: readonly TaskResult[]) => string[],
): string[][] {
  const staff = results.filter(({ kind }) => staffKinds.includes(kind));
  return [
    ...results.map((result) => formatRow(result.task, result.kind, [result])),
    formatRow("**staff work**", "reading, writing", staff),
    formatRow("**all**", "", results),
  ];
}

function formatDone(rows: readonly TaskResult[]): string {
  const done = rows.filter((row) => row.done).length;
  if (rows.length === 1) return done === 1 ? "yes" : "no";
  return `${done} of ${rows.length}`;
}

function sumUp(rows: readonly TaskResult[], measure: Measure = () => 0): number {
  return rows.reduce((sum, row) => sum + measure(row), 0);
}

/** Formats a Markdown table; the columns after the texts are numbers. */
function formatTable(columns: readonly string[], texts: number, rows: readonly (readonly string[])[]): string[] {
  const rule = columns.map((_, index) => (index < texts ? "---" : "---:"));
  return [columns, rule, ...rows].map((cells) => `| ${cells.join(" | ")} |`);
}
