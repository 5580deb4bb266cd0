import { readFileSync } from "node:fs";
import { quantile } from "../bench/scale/measure.ts";
import { type Figure, type Results, wantedRatio } from "../bench/tenants/results.ts";

const file = new URL("../bench/results/tenants.json", import.meta.url);
const { measuredAt, machine, rounds, seconds, figures } = JSON.parse(readFileSync(file, "utf8")) as Results;

const kinds = [...new Set(figures.map(({ kind }) => kind))];
const shared = figures.filter(({ processes }) => processes === 1);
const apart = figures.filter(({ processes }) => processes === 2);
const countMet = (those: readonly Figure[]) =>
  `${those.filter(({ ratio }) => ratio <= wantedRatio).length} of ${those.length}`;

function renderCell(row: readonly Figure[], kind: string): string {
  const figure = row.find((each) => each.kind === kind);
  return figure
    ? `${figure.loadedP50Ms.toFixed(0)} / ${figure.loadedP99Ms.toFixed(0)} ms, ${figure.ratio.toFixed(1)} ×`
    : "";
}

function renderQuiet(those: readonly Figure[], engine: string, kind: string): string {
  const own = those.filter((each) => each.engine === engine && each.kind === kind);
  const format = (times: readonly number[]) => quantile(times, 0.5).toFixed(1);
  return `${format(own.map((each) => each.quietP50Ms))} / ${format(own.map((each) => each.quietP99Ms))} ms`;
}

const engines = [...new Set(figures.map(({ engine }) => engine))];

function renderTable(those: readonly Figure[]): string {
  const rows = Map.groupBy(those, ({ engine, load }) => `${engine} | ${load}`);
  const loaded = [...rows].map(
    ([name, row]) => `| ${name} | ${kinds.map((kind) => renderCell(row, kind)).join(" | ")} |`,
  );
  return `| database | the other organisation sends | ${kinds.join(" | ")} |
| --- | --- |${" --- |".repeat(kinds.length)}
${loaded.join("\n")}`;
}

function renderQuietTable(those: readonly Figure[]): string {
  const rows = engines.map(
    (engine) => `| ${engine} | ${kinds.map((kind) => renderQuiet(those, engine, kind)).join(" | ")} |`,
  );
  return `| database | ${kinds.join(" | ")} |
| --- |${" --- |".repeat(kinds.length)}
${rows.join("\n")}`;
}

function renderApart(): string {
  return `
If a balancer sends each organisation to a process of its own, they share only the machine and the database: ${countMet(apart)} are within ${wantedRatio} ×. On SQLite, a change still waits for those of the other process ([above](#when-to-leave-sqlite)).

${renderTable(apart)}

The quiet times of these were longer, most likely because the exports that the load before had asked for were still being made. That makes the ratios smaller than on an idle machine, on PostgreSQL above all:

${renderQuietTable(apart)}
`;
}

/** Renders how long the calls of one organisation take beside another one that calls without pause. */
export const tenantFigures = `\`node bench/tenants.ts\` measures this: one organisation sends reads, lists, workflows, changes, bulk changes (500 assignments each) and exports over 128 connections and 32 tokens, with the rate limit raised to a million. Another makes a call every 10 ms. Measured on ${measuredAt} on ${machine}, which the clients and the database share with the service, in ${rounds} rounds of ${seconds} seconds. Quiet times, as median and 99th percentile:

${renderQuietTable(shared)}

Beside the other organisation, and how many times the quiet 99th percentile that is. At most ${wantedRatio} × is wanted: ${countMet(shared)} are within it.

${renderTable(shared)}

Where it is missed, the call waits for the process: it arrives in a turn of the event loop that may contain one long step of the other organisation, and with PostgreSQL the answers to two of its calls. While so many calls are in progress, collections of garbage take 5 to 15 ms each. With bulk changes on SQLite, a change waits in addition until one of the other organisation is committed.
${apart.length > 0 ? renderApart() : ""}`;
