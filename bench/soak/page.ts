import { mkdirSync, writeFileSync } from "node:fs";
import { formatNumber, renderLineChart } from "../peers/chart.ts";
import { quantile } from "../scale/measure.ts";
import type { CallFigures, SoakResults } from "./results.ts";
import type { Sample } from "./server.ts";

interface Chart {
  readonly figure: keyof Sample;
  readonly title: string;
  readonly unit: string;
}

const charts: readonly Chart[] = [
  { figure: "heapMiB", title: "Heap after collections of garbage", unit: "MiB" },
  { figure: "rssMiB", title: "Resident memory", unit: "MiB" },
  { figure: "mainThreadPercent", title: "Time in which the service's JavaScript runs", unit: "%" },
  { figure: "eventLoopLagMs", title: "Delay of the event loop, 99th percentile", unit: "ms" },
  { figure: "descriptors", title: "Open descriptors", unit: "" },
  { figure: "queued", title: "Due work of the queues", unit: "" },
  { figure: "databaseMiB", title: "Size of the database", unit: "MiB" },
];

const docs = new URL("../../docs/", import.meta.url);

/** Writes `docs/soak.md` with its charts. */
export function writePage(results: SoakResults): void {
  const folder = new URL("images/soak/", docs);
  mkdirSync(folder, { recursive: true });
  for (const { figure, title, unit } of charts) {
    const points = results.samples.map((sample) => ({ x: sample.atSeconds / 60, y: sample[figure] }));
    writeFileSync(new URL(`${figure}.svg`, folder), renderLineChart(title, unit, points));
  }
  writeFileSync(new URL("soak.md", docs), renderPage(results));
}

const toTable = (rows: readonly (readonly (string | number)[])[]) =>
  rows.map((cells) => `| ${cells.join(" | ")} |`).join("\n");

/** Describes how busy the service and the machine were at the beginning and at the end. */
function describeLoad(samples: readonly Sample[]): string {
  // The last sample is taken when the clients have gone.
  const running = samples.slice(0, -1);
  const quarter = Math.ceil(running.length / 4);
  const describe = (own: readonly Sample[]) => {
    const [busy, waited, stolen] = (["mainThreadPercent", "waitedPercent", "stolenPercent"] as const).map((figure) =>
      quantile(
        own.map((sample) => sample[figure]),
        0.5,
      ).toFixed(0),
    );
    return `ran ${busy} % of the time and waited ${waited} % for a processor, and the host of the machine gave ${stolen} % of its processors to others`;
  };
  return `In the first quarter of the run, the thread of the service that runs JavaScript ${describe(running.slice(0, quarter))}. In the last quarter, it ${describe(running.slice(-quarter))}. These are medians.`;
}

/** Describes what a call takes that needs next to nothing of its server. */
function describeBare(bare: CallFigures | undefined): string {
  if (!bare) return "";
  const { calls, p50Ms, p99Ms, maxMs } = bare;
  return `The process of the timed clients also called a server of Node that answers each request with a fixed text, ten times a second. Of these ${calls} calls, the p50 was ${formatNumber(p50Ms)} ms, the p99 ${formatNumber(p99Ms)} ms, which is ${(p99Ms / p50Ms).toFixed(1)} ×, and the longest took ${formatNumber(maxMs)} ms. So much of each time comes from the machine and the clients.`;
}

function renderPage(results: SoakResults): string {
  const { measuredAt, node, machine, otherLoad, minutes, clients, sentCalls, calls, bare, errors, criteria, samples } =
    results;
  const [first, last] = [samples[0], samples.at(-1)];
  const grownMiB = (last?.databaseMiB ?? 0) - (first?.databaseMiB ?? 0);
  const timedCount = calls.reduce((sum, { calls }) => sum + calls, 0);
  const errorText = Object.entries(errors).map(([code, number]) => `\`${code}\` ${number}`);
  return `# Soak

<!-- Written by npm run soak. -->

\`npm run soak\` runs one process with SQLite and default settings for 30 minutes. ${clients} clients of the official SDK call it, over HTTP and over stdio, half of them with revision 2025-11-25 and half with 2026-07-28. They read, run workflows, searches and batches, read and follow resources, create, change and withdraw records with a confirmation, and ask for exports. Some calls are mistakes. Webhooks go to two local receivers, one of which fails at times, and a browser has the console open. \`npm run soak -- 10\` runs for 10 minutes. The command exits with 1 if a criterion is not met.

Measured on ${measuredAt} with Node ${node}, on ${machine}: ${minutes} minutes, ${sentCalls} calls, ${results.notifications} notifications, ${results.deliveries} webhook deliveries and ${results.consolePages} pages of the console. Other programs gave the machine a load average of ${otherLoad.toFixed(1)} before the run; with more than its number of processors, times say little. The times are those of ${timedCount} calls of some of the clients, which have a process of their own: when all clients get a notification, a process with all of them is busy for a while, and its calls would seem slow. They leave out the first ${results.warmUpSeconds} seconds, in which the program loads and compiles code. The other clients and the browser have low priority, because they run on other machines.

${toTable([
  ["criterion", "met", "measured"],
  ["---", "---", "---"],
  ...criteria.map(({ name, isMet, measured }) => [name, isMet ? "yes" : "**no**", measured]),
])}

For memory and descriptors, the second third of the time is compared with the last. The last may be higher by a tenth.

## Calls

${toTable([
  ["call", "over", "calls", "p50 ms", "p99 ms", "longest ms"],
  ["---", "---", "---", "---", "---", "---"],
  ...calls
    .toSorted((a, b) => `${a.via}${a.kind}`.localeCompare(`${b.via}${b.kind}`))
    .map(({ kind, via, calls, p50Ms, p99Ms, maxMs }) => [kind, via, calls, ...[p50Ms, p99Ms, maxMs].map(formatNumber)]),
])}

Errors that clients got: ${errorText.join(", ") || "none"}.

## Where the time goes

${describeLoad(samples)}

${describeBare(bare)}

A call waits for those before it, and for a processor: the clients, the processes over stdio and the browser share the machine with the service, and all clients over HTTP share one process. An organisation has places for two workflows that scan at once, one while others call, and further ones wait. Over stdio, each client has a process, and its workflows do not wait for those of others. Collections of garbage pause the process. Commits wait for the disk on another thread.

## Over time

The database has grown by ${formatNumber(grownMiB)} MiB, or ${formatNumber((grownMiB * 1_024) / Math.max(1, sentCalls))} KiB for each call: records, events and the audit, which has an entry for each call.

${charts.map(({ figure, title }) => `![${title}](images/soak/${figure}.svg)`).join("\n\n")}
`;
}
