import { writeFileSync } from "node:fs";
import type { Ledger } from "./check.ts";
import { cases, descriptions } from "./descriptions.ts";
import type { CaseResult, StepResult } from "./measure.ts";

export interface Results {
  /** The day, as `YYYY-MM-DD`. */
  readonly measuredAt: string;
  readonly node: string;
  readonly machine: string;
  readonly cases: readonly CaseResult[];
}

const page = new URL("../../docs/reliability.md", import.meta.url);

/** Writes `docs/reliability.md`. */
export function writePage(results: Results): void {
  writeFileSync(page, renderPage(results));
}

function renderPage({ measuredAt, node, machine, cases: all }: Results): string {
  const byName = new Map(all.map((each) => [each.name, each]));
  const ordered = cases.flatMap(({ name }) => byName.get(name) ?? []);
  return `# Reliability

<!-- Written by npm run faults. -->

This page shows what the program does when something breaks: what callers see, what is kept, how soon service is normal again, and what an operator should do.

\`npm run faults\` starts the built program, has clients write and read over REST and MCP, and injects one fault at a time. A client repeats a write that failed, with its idempotency key, until it succeeds. Afterwards the run compares what was acknowledged with the records, the audit entries and the events that a receiver of webhooks got.

\`\`\`mermaid
flowchart LR
  clients["clients<br>REST and MCP"] -- "writes with<br>idempotency keys" --> program["the built program"]
  fault(["fault"]) -.-> program
  fault -.-> database
  program --> database[("database")]
  program -- webhooks --> receiver["receiver"]
  clients -- "acknowledged" --> check{"equal?"}
  database -- "records, audit" --> check
  receiver -- "events" --> check
\`\`\`

Measured on ${measuredAt} with Node ${node}, on ${machine}, which other work shared. ${summarize(ordered)}

## Faults

*Recovery* is the time from the end of the fault until the first success after which no call has failed. *Writes* counts those that were acknowledged.

${toTable(
  ["fault", "what happens", "callers see", "writes", "recovery", "operators see", "what to do"],
  ordered.flatMap((each) => toRow(each)),
)}

A refused call says when to try again. Everything else on this page follows from one rule: a call's records, events, audit entries and answer commit in one transaction, and nothing is acknowledged before the commit.

## Killed at each step

The process is stopped by a debugger at the beginning of each step of a write, and killed with \`kill -9\`. The next process gets the same call with the same idempotency key. *Nothing* means that the killed process left no trace, *all* that its record, audit entry and event were there. In each case the repeated call succeeds, and then there is exactly one change, one audit entry and one event.

${renderSteps(ordered)}

A question before a confirmation (*dry run*, *roll back*) is killed too: it leaves nothing, and the next question leads to one change.

Within the commit of SQLite, the process is killed by the system at single system calls:

${renderCommit(ordered)}

## Limits of these runs

- A killed process is not a power failure: what the kernel has taken is still written. A change is acknowledged when the disk has it: SQLite writes its log, and the program waits for the disk on another thread; PostgreSQL runs with its defaults. Therefore acknowledged changes survive a power failure too, as far as the disk keeps its promises.
- A killed process loses audit entries of reads of its last 0.4 seconds, and a power failure those since the last change too. Changes have theirs in their transaction.
- Webhooks arrive at least once. A receiver that answers after the process was killed gets the event again, with the same id.
- The jumps of the clock are made with \`libfaketime\`, and failures of the disk with \`strace\`.
`;
}

function toTable(header: readonly string[], rows: readonly (readonly string[])[]): string {
  const toLine = (cells: readonly string[]) => `| ${cells.join(" | ")} |`;
  return [toLine(header), toLine(header.map(() => "---")), ...rows.map(toLine)].join("\n");
}

function toRow({ name, figures, seen, ledgers, recoverySeconds = 0, readiness, warnings }: CaseResult): string[][] {
  const found = descriptions[name];
  if (!found) return [];
  const recovery = recoverySeconds < 0.1 ? "at once" : `${recoverySeconds.toFixed(1)} s`;
  const probes = readiness.map((state) => (/^\d/.test(state) ? `\`/readyz\` ${state}` : `\`/readyz\`: ${state}`));
  const log = warnings.length === 0 ? [] : [`log: ${warnings.map((message) => `“${message}”`).join(", ")}`];
  const operators = [...probes, ...log].join("<br>") || "–";
  const kept = ledgers.map(describeLedger).join("<br>");
  return [[found.title, found.describe(figures), describeSeen(seen), kept, recovery, operators, found.advice]];
}

/** Merges answers that differ in the time to retry alone. */
function describeSeen(seen: Readonly<Record<string, number>>): string {
  const waits = new Map<string, number[]>();
  for (const text of Object.keys(seen)) {
    const [answer = "", wait] = text.split(", retry after ");
    waits.set(answer, [...(waits.get(answer) ?? []), ...(wait === undefined ? [] : [Number.parseInt(wait, 10)])]);
  }
  const texts = [...waits].map(([answer, seconds]) => {
    const code = answer.replace(/(\w+)$/, (word) => (/_|^unavailable$/.test(word) ? `\`${word}\`` : word));
    if (seconds.length === 0) return code;
    const [least, most] = [Math.min(...seconds), Math.max(...seconds)];
    return `${code}, retry after ${least === most ? least : `${least} to ${most}`} s`;
  });
  return texts.join("<br>") || "no failure";
}

function describeLedger(ledger: Ledger): string {
  const wrong = listWrong(ledger);
  return `${ledger.acknowledged.toLocaleString("en")}: ${wrong.length === 0 ? "none lost, none twice" : wrong.join(", ")}`;
}

function listWrong({ acknowledged: _, ...differences }: Ledger): string[] {
  return Object.entries(differences).flatMap(([name, count]) => (count === 0 ? [] : `${name} ${count}`));
}

function isWrong({ found, records, entries, events }: StepResult): boolean {
  return found === "a part" || records !== 1 || entries !== 1 || events !== 1;
}

function summarize(all: readonly CaseResult[]): string {
  const ledgers = all.flatMap((each) => each.ledgers);
  const acknowledged = ledgers.reduce((sum, each) => sum + each.acknowledged, 0).toLocaleString("en");
  const kills = all.flatMap(({ steps = [] }) => steps);
  const wrong = ledgers.filter((each) => listWrong(each).length > 0).length + kills.filter(isWrong).length;
  const result = wrong === 0 ? "no write or event was lost or made twice" : `${wrong} checks failed`;
  return `In ${ledgers.length} faults with ${acknowledged} acknowledged writes, and ${kills.length} kills at single steps, ${result}.`;
}

const doors: Readonly<Record<string, string>> = {
  "kill-rest": "REST",
  "kill-mcp": "MCP over HTTP",
  "kill-stdio": "MCP over stdio",
  "kill-rest-postgres": "REST, PostgreSQL",
  "kill-mcp-confirmed": "confirmed, HTTP",
  "kill-stdio-confirmed": "confirmed, stdio",
};

function describeStep(step: StepResult | undefined): string {
  if (!step) return "–";
  if (isWrong(step)) return `**${step.found}; then ${step.records}, ${step.entries}, ${step.events}**`;
  return step.found === "everything" ? "all" : step.found;
}

function renderSteps(all: readonly CaseResult[]): string {
  const shown = all.filter(({ name }) => name in doors);
  const longest = shown.map(({ steps = [] }) => steps).toSorted((a, b) => b.length - a.length)[0] ?? [];
  const rows = longest.map(({ step: name }) => [
    name,
    ...shown.map(({ steps = [] }) => describeStep(steps.find(({ step }) => step === name))),
  ]);
  return toTable(["killed at", ...shown.map(({ name }) => doors[name] ?? name)], rows);
}

function renderCommit(all: readonly CaseResult[]): string {
  const steps = all.find(({ name }) => name === "kill-in-commit")?.steps ?? [];
  return toTable(["killed at", ...steps.map(({ step }) => step)], [["left", ...steps.map(describeStep)]]);
}
