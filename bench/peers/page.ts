import { mkdirSync, writeFileSync } from "node:fs";
import { formatNumber, renderBarChart } from "./chart.ts";
import type { Figures } from "./measure.ts";
import { renderTargets } from "./targets.ts";

export interface Results {
  /** The day, as `YYYY-MM-DD`. */
  readonly measuredAt: string;
  readonly node: string;
  readonly machine: string;
  /** The start of a server of the SDK with three tools that do nothing, bundled as the program is. */
  readonly bareStartMs: number;
  /** Processor time that the client takes for a read over HTTP with 16 in flight. */
  readonly clientCpuMs: number;
  /** Reads a second over HTTP, with 16 in flight, of a server that does nothing but answer with a fixed text. */
  readonly floorReadsPerSecond: number;
  readonly candidates: readonly ({ readonly name: string; readonly isPeer: boolean } & Figures)[];
}

interface Row {
  readonly figure: keyof Figures;
  readonly title: string;
  readonly unit: string;
  readonly meaning: string;
}

const rows: readonly Row[] = [
  {
    figure: "readMs",
    title: "Read of a record over stdio",
    unit: "ms",
    meaning: "what an agent waits for one call",
  },
  {
    figure: "pageMs",
    title: "Page of 50 records over stdio",
    unit: "ms",
    meaning: "what an agent waits for a list",
  },
  {
    figure: "pageRows",
    title: "Records in that page",
    unit: "records",
    meaning: "what fits into a result that models can take",
  },
  {
    figure: "readsPerSecond",
    title: "Reads a second over stdio, 16 in flight",
    unit: "/s",
    meaning: "how fast a client with parallel calls gets on",
  },
  {
    figure: "httpReadsPerSecond",
    title: "Reads a second over HTTP, 16 in flight",
    unit: "/s",
    meaning: "how fast calls of several agents get on",
  },
  {
    figure: "newHttpReadsPerSecond",
    title: "The same in revision 2026-07-28",
    unit: "/s",
    meaning: "the same for clients of the newer revision",
  },
  {
    figure: "firstHttpReadsPerSecond",
    title: "The first 1,000 reads over HTTP after the start",
    unit: "/s",
    meaning: "how fast a server is that has just started",
  },
  {
    figure: "httpCpuMs",
    title: "Processor time of the server for a read over HTTP",
    unit: "ms",
    meaning: "how many agents one processor serves",
  },
  {
    figure: "startMs",
    title: "Start of the process until its tools are listed",
    unit: "ms",
    meaning: "what a host waits when it opens",
  },
  {
    figure: "listTokens",
    title: "Size of the list of tools",
    unit: "tokens",
    meaning: "what the list takes of a model's context",
  },
  { figure: "idleMiB", title: "Memory after the start", unit: "MiB", meaning: "what it costs to keep it open" },
  {
    figure: "afterMiB",
    title: "Memory after 10,000 reads over stdio",
    unit: "MiB",
    meaning: "what it costs on a desktop in use",
  },
  {
    figure: "httpAfterMiB",
    title: "Memory after 10,000 reads over HTTP",
    unit: "MiB",
    meaning: "what it costs on a server in use",
  },
];

const docs = new URL("../../docs/", import.meta.url);

/** Writes `docs/benchmarks.md` with its charts. */
export function writePage(results: Results): void {
  const charts = new URL("images/benchmarks/", docs);
  mkdirSync(charts, { recursive: true });
  for (const { figure, title, unit } of rows) {
    const bars = results.candidates.flatMap(({ name, isPeer, ...each }) => {
      const value = each[figure];
      return value === undefined ? [] : [{ label: name, value, isOurs: !isPeer }];
    });
    writeFileSync(new URL(`${figure}.svg`, charts), renderBarChart(title, unit, bars));
  }
  writeFileSync(new URL("benchmarks.md", docs), renderPage(results));
}

function renderPage(results: Results): string {
  const { measuredAt, node, machine, candidates, bareStartMs, clientCpuMs, floorReadsPerSecond } = results;
  const header = ["", ...candidates.map(({ name }) => name), "means"];
  const lines = rows.map(({ figure, title, unit, meaning }) => {
    const values = candidates.map(({ [figure]: value }) => (value === undefined ? "–" : formatNumber(value)));
    return [`${title} (${unit})`, ...values, meaning];
  });
  const toRow = (cells: readonly string[]) => `| ${cells.join(" | ")} |`;
  const pictures = rows.map(({ figure, title }) => `![${title}](images/benchmarks/${figure}.svg)`);
  return `# Benchmarks

<!-- Written by npm run bench. -->

\`npm run bench\` compares the program with other servers that give the same interface to agents: \`openapi-mcp-generator\`, \`@ivotoby/openapi-mcp-server\` and \`fastmcp\`. They get the OpenAPI document of the same service. All servers run with their default settings, and take turns in short rounds of one run, after 10,000 reads by each client to warm up. Clients speak revision 2025-11-25, because the peers do not support the newer one. One row has the newer one.

The program does more in each call than its peers: it checks arguments and answers, hides contact details, limits rates and keeps an audit. *Remote* calls the same service as the peers do. *Embedded* has the service in its own process.

Two peers have no figures over HTTP. The server of \`openapi-mcp-generator\` ends with an error at a client's second request. \`@ivotoby/openapi-mcp-server\` does not answer requests in their responses, as streamable HTTP demands.

A page of the program holds fewer records than a peer's, because it keeps a result below a size that models can take. It requests about as many rows as fit, by the sizes of the rows that it read before. It validates each record, scans its texts for addresses and telephone numbers, and shows it both as a table and as data.

With 16 reads over HTTP in flight, the client itself takes ${formatNumber(clientCpuMs)} ms of processor time for a read, and the remote service takes its own. They share the processors of the machine with the server, and have a part in the rates of all candidates. The row of processor time shows the server's process alone. More than half of it is outside the program's own code: in a profile of the remote server under this load, the two system calls that write the request and the response take 28 to 38 %, the HTTP server, the HTTP client and the streams of Node 20 %, the program 30 %.

A server of the SDK that does nothing, bundled in the same way as the program, starts in ${formatNumber(bareStartMs)} ms.

Measured on ${measuredAt} with Node ${node}, on ${machine}. Times are medians.

${[toRow(header), toRow(header.map(() => "---")), ...lines.map(toRow)].join("\n")}

## Targets

${renderTargets(results).join("\n")}

Where a rate is missed: a server with nothing but Node's HTTP module, which parses each request and answers with a fixed text of the same size, reaches ${formatNumber(floorReadsPerSecond)} reads a second with the same client. That is about the most that one process with this module can do.

## Charts

${pictures.join("\n\n")}
`;
}
