/**
 * `npm run faults`: injects faults into the built program while clients use it, and compares what was acknowledged with
 * what is there. Writes the results to `bench/results/faults.json` and `docs/reliability.md`. Names of cases as arguments
 * run these alone; `page` writes the page alone. Needs Linux with `strace` and `faketime`, and the right to trace
 * processes.
 */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { cases } from "./faults/descriptions.ts";
import type { CaseResult } from "./faults/measure.ts";
import { type Results, writePage } from "./faults/page.ts";
import { cleanUpAll } from "./faults/program.ts";
import { describeMachine } from "./machine.ts";

const file = new URL("results/faults.json", import.meta.url);
const wanted = process.argv.slice(2);
const results = new Map(readResults().map((each) => [each.name, each]));
for (const { name, run } of cases) {
  if (wanted.length > 0 && !wanted.includes(name)) continue;
  try {
    const result = { name, ...(await run()) };
    results.set(name, result);
    console.log(JSON.stringify(result));
  } finally {
    await cleanUpAll();
  }
  writeResults();
}
writeResults();

function readResults(): readonly CaseResult[] {
  return existsSync(file) ? (JSON.parse(readFileSync(file, "utf8")) as Results).cases : [];
}

/** Kept after each case, because a whole run takes a quarter of an hour. */
function writeResults(): void {
  const all: Results = {
    measuredAt: new Date().toISOString().slice(0, 10),
    node: process.version,
    machine: describeMachine(),
    cases: cases.flatMap(({ name }) => results.get(name) ?? []),
  };
  mkdirSync(new URL(".", file), { recursive: true });
  const round = (_: string, value: unknown) => (typeof value === "number" ? Math.round(value * 1_000) / 1_000 : value);
  writeFileSync(file, `${JSON.stringify(all, round, 2)}\n`);
  writePage(all);
}
