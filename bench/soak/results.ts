import { quantile } from "../scale/measure.ts";
import { expectedErrors } from "./actions.ts";
import type { CallReport } from "./clients.ts";
import type { Sample } from "./server.ts";

export interface CallFigures {
  readonly kind: string;
  readonly via: string;
  readonly calls: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly maxMs: number;
}

export interface Criterion {
  readonly name: string;
  readonly isMet: boolean;
  readonly measured: string;
}

export interface SoakResults {
  /** The day, as `YYYY-MM-DD`. */
  readonly measuredAt: string;
  readonly node: string;
  readonly machine: string;
  /** The load average of the machine before the run. */
  readonly otherLoad: number;
  readonly minutes: number;
  /** Calls of this time at the beginning are not among the figures. */
  readonly warmUpSeconds: number;
  readonly clients: number;
  /** Calls of all clients. */
  readonly sentCalls: number;
  /** Those of the timed clients. */
  readonly calls: readonly CallFigures[];
  /** Those of a server that does nothing, called by the process of the timed clients. */
  readonly bare: CallFigures | undefined;
  /** Number of errors by code. */
  readonly errors: Readonly<Record<string, number>>;
  readonly notifications: number;
  readonly deliveries: number;
  readonly consolePages: number;
  readonly samples: readonly Sample[];
  readonly criteria: readonly Criterion[];
}

const maxGrowth = 1.1;
const maxTailRatio = 5;

/** Returns the calls that started after the warm-up, in which the program loads and compiles code. */
export function selectWarm(reports: readonly CallReport[], warmUpSeconds: number): CallReport[] {
  const firstMs = reports[0]?.startedAtMs ?? 0;
  return reports.filter(({ startedAtMs }) => startedAtMs - firstMs >= warmUpSeconds * 1_000);
}

/** Returns the figures of each kind of call. */
export function summarizeCalls(reports: readonly CallReport[]): CallFigures[] {
  return [...Map.groupBy(reports, ({ kind, via }) => `${kind} ${via}`)].map(([, ofKind]) => {
    const times = ofKind.map(({ ms }) => ms);
    const [{ kind, via } = { kind: "", via: "" }] = ofKind;
    const [p50Ms, p99Ms, maxMs] = [quantile(times, 0.5), quantile(times, 0.99), Math.max(...times)];
    return { kind, via, calls: times.length, p50Ms, p99Ms, maxMs };
  });
}

export function countErrors(reports: readonly CallReport[]): Record<string, number> {
  const groups = Map.groupBy(reports, ({ error }) => error);
  return Object.fromEntries(
    [...groups].flatMap(([error, ofCode]) => (error === undefined ? [] : [[error, ofCode.length]])),
  );
}

/** Checks what a soak must show. */
export function checkCriteria(
  samples: readonly Sample[],
  calls: readonly CallFigures[],
  errors: Readonly<Record<string, number>>,
  consoleErrors: readonly string[],
): Criterion[] {
  const last = samples.at(-1);
  const unexpected = Object.entries(errors).filter(([code]) => !expectedErrors.has(code));
  const slow = calls.filter(({ p50Ms, p99Ms }) => p99Ms > maxTailRatio * p50Ms);
  const formatCall = ({ kind, via, p50Ms, p99Ms }: CallFigures) =>
    `${kind} over ${via} ${(p99Ms / p50Ms).toFixed(1)} ×`;
  return [
    checkFlat("Heap after collections of garbage is flat", samples, ({ heapMiB }) => heapMiB, "MiB"),
    checkFlat("Resident memory is flat", samples, ({ rssMiB }) => rssMiB, "MiB"),
    checkFlat("Open descriptors are flat", samples, ({ descriptors }) => descriptors, ""),
    {
      name: "Clients have no errors but their own",
      isMet: unexpected.length === 0,
      measured: unexpected.map(([code, count]) => `${code}: ${count}`).join(", ") || "none",
    },
    {
      name: "The console has no errors",
      isMet: consoleErrors.length === 0,
      measured: [...new Set(consoleErrors)].join(", ") || "none",
    },
    {
      name: `The p99 of each kind of call is within ${maxTailRatio} × its p50`,
      isMet: slow.length === 0,
      measured: slow.map(formatCall).join(", ") || "all",
    },
    { name: "All queues are empty at the end", isMet: last?.queued === 0, measured: `${last?.queued} due` },
  ];
}

/** Compares the medians of the second and the last third. The first third fills caches. */
function checkFlat(
  name: string,
  samples: readonly Sample[],
  getValue: (sample: Sample) => number,
  unit: string,
): Criterion {
  const third = Math.floor(samples.length / 3);
  // The last sample is taken when the clients have gone.
  const running = samples.slice(0, -1);
  const before = quantile(running.slice(third, 2 * third).map(getValue), 0.5);
  const after = quantile(running.slice(2 * third).map(getValue), 0.5);
  const [first, final] = [running[third], running.at(-1)];
  const hours = ((final?.atSeconds ?? 0) - (first?.atSeconds ?? 0)) / 3_600;
  const slope = first && final && hours > 0 ? (getValue(final) - getValue(first)) / hours : 0;
  return {
    name,
    isMet: after <= before * maxGrowth,
    measured: `${before.toFixed(0)} ${unit}, then ${after.toFixed(0)} ${unit} (${slope.toFixed(0)} an hour)`.replaceAll(
      "  ",
      " ",
    ),
  };
}
