import { formatNumber } from "./chart.ts";
import type { Figures } from "./measure.ts";
import type { Results } from "./page.ts";

/** A figure that is wanted, with the measured one. */
interface Target {
  readonly title: string;
  readonly wanted: string;
  readonly measured: string;
  readonly isMet: boolean;
}

/** Returns the targets as lines of a table. */
export function renderTargets(results: Results): readonly string[] {
  const rows = listTargets(results).map(
    ({ title, wanted, measured, isMet }) => `| ${title} | ${wanted} | ${measured} | ${isMet ? "yes" : "**no**"} |`,
  );
  return ["| target | wanted | measured | met |", "| --- | --- | --- | --- |", ...rows];
}

function listTargets({ candidates, bareStartMs }: Results): readonly Target[] {
  const [remote, embedded] = candidates.filter(({ isPeer }) => !isPeer);
  const peers = candidates.filter(({ isPeer }) => isPeer);
  const generator = peers.find(({ name }) => name === "openapi-mcp-generator");
  if (!remote || !embedded || !generator) throw new Error("A candidate is missing");
  const bestPeerRate = Math.max(...peers.map(({ httpReadsPerSecond = 0 }) => httpReadsPerSecond));
  const getRateTarget = (name: string, figures: Figures, figure: RateFigure, least: number): Target => {
    const ratio = (figures[figure] ?? 0) / bestPeerRate;
    const title = `Reads a second over HTTP, ${name}, revision ${revisions[figure]}, against the best peer`;
    return { title, wanted: `at least ${least} ×`, measured: `${ratio.toFixed(2)} ×`, isMet: ratio >= least };
  };
  const getLimitTarget = (title: string, value: number, base: number, limit: number): Target => {
    const ratio = value / base;
    return { title, wanted: `at most ${limit} ×`, measured: `${ratio.toFixed(2)} ×`, isMet: ratio <= limit };
  };
  const memory = "Memory after 10,000 reads over stdio";
  return [
    getLimitTarget("Page of 50, remote, against `openapi-mcp-generator`", remote.pageMs, generator.pageMs, 0.5),
    {
      title: "Page of 50, embedded",
      wanted: "at most 3 ms",
      measured: `${formatNumber(embedded.pageMs)} ms`,
      isMet: embedded.pageMs <= 3,
    },
    getLimitTarget(`${memory}, remote, against \`openapi-mcp-generator\``, remote.afterMiB, generator.afterMiB, 1),
    getLimitTarget(`${memory}, embedded, against \`openapi-mcp-generator\``, embedded.afterMiB, generator.afterMiB, 1),
    getRateTarget("remote", remote, "httpReadsPerSecond", 3),
    getRateTarget("remote", remote, "newHttpReadsPerSecond", 3),
    getRateTarget("embedded", embedded, "httpReadsPerSecond", 5),
    getRateTarget("embedded", embedded, "newHttpReadsPerSecond", 5),
    getLimitTarget("Start, remote, against a bundled server of the SDK", remote.startMs, bareStartMs, 1.2),
    getLimitTarget("Start, embedded, against a bundled server of the SDK", embedded.startMs, bareStartMs, 1.2),
  ];
}

type RateFigure = "httpReadsPerSecond" | "newHttpReadsPerSecond";

const revisions: Readonly<Record<RateFigure, string>> = {
  httpReadsPerSecond: "2025-11-25",
  newHttpReadsPerSecond: "2026-07-28",
};
