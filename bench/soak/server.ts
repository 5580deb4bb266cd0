import { spawn } from "node:child_process";
import { once } from "node:events";
import { readdirSync, statSync } from "node:fs";
import { createInterface } from "node:readline";
import { freePort } from "../../test/support/processes/free-port.ts";
import { readCpuMs, readMainThreadMs, readMemoryMiB, readStolenMs } from "../process-usage.ts";

/** The measurements of the service at one time. */
export interface Sample {
  readonly atSeconds: number;
  readonly rssMiB: number;
  /** Used after the last full collection of garbage. */
  readonly heapMiB: number;
  /** Processor time of the process since the last sample, as a share of one processor in percent. */
  readonly cpuPercent: number;
  /** The share of the time in which its first thread ran, on which JavaScript runs. */
  readonly mainThreadPercent: number;
  /** The share of the time in which that thread waited for a processor. */
  readonly waitedPercent: number;
  /** The share of the processors that the host of the machine gave to others. */
  readonly stolenPercent: number;
  readonly descriptors: number;
  readonly databaseMiB: number;
  /** The 99th percentile since the last sample. */
  readonly eventLoopLagMs: number;
  /** Due work of all queues. */
  readonly queued: number;
  readonly subscriptions: number;
}

/** A running service. */
export interface SoakServer {
  readonly origin: string;
  /** The link to set up the first account. */
  readonly ownerLink: string;
  sample(atSeconds: number): Promise<Sample>;
  stop(): Promise<void>;
}

export async function startServer(program: string, env: Readonly<Record<string, string>>): Promise<SoakServer> {
  const metrics = `127.0.0.1:${await freePort()}`;
  const port = String(await freePort());
  const child = spawn(process.execPath, ["--trace-gc", program, "http", "--port", port, "--metrics", metrics], {
    env: { PATH: process.env["PATH"], ...env },
    stdio: ["ignore", "pipe", "inherit"],
  });
  const started = Promise.withResolvers<{ origin: string; ownerLink: string }>();
  child.once("exit", () => started.reject(new Error("The service has not started")));
  let origin: string | undefined;
  let heapMiB = 0;
  const readCpuPercent = createShareReader(() => readCpuMs(child.pid));
  const readMainThreadPercent = createShareReader(() => readMainThreadMs(child.pid).run);
  const readWaitedPercent = createShareReader(() => readMainThreadMs(child.pid).waited);
  const readStolenPercent = createShareReader(readStolenMs);
  const readCollectedHeap = createHeapReader();
  createInterface({ input: child.stdout }).on("line", (line) => {
    heapMiB = readCollectedHeap(line) ?? heapMiB;
    origin ??= /http:\/\/\S+?:\d+/.exec(line)?.[0];
    const [ownerLink] = /http:\/\/\S+\/join\/\S+/.exec(line) ?? [];
    if (ownerLink !== undefined && origin !== undefined) started.resolve({ origin, ownerLink });
  });
  return {
    ...(await started.promise),
    sample: async (atSeconds) => ({
      atSeconds,
      heapMiB,
      cpuPercent: readCpuPercent(),
      mainThreadPercent: readMainThreadPercent(),
      waitedPercent: readWaitedPercent(),
      stolenPercent: readStolenPercent(),
      ...(await readSample({ pid: child.pid, metrics, database: env["PROGRAMME_DATABASE"] ?? "" })),
    }),
    async stop() {
      child.kill();
      if (child.exitCode === null) await once(child, "close");
    },
  };
}

/**
 * Creates a reader of the lines of `--trace-gc`. It returns the used heap after a full collection of garbage in MiB. The
 * process chooses the times of its collections: a forced one stops it for 100 to 250 ms. Lines of worker threads are
 * ignored.
 */
function createHeapReader(): (line: string) => number | undefined {
  let mainIsolate: string | undefined;
  return (line) => {
    const [, isolate] = /^\[\d+:(0x\w+)\]/.exec(line) ?? [];
    mainIsolate ??= isolate;
    const [, usedMiB] = /Mark-Compact.*? -> ([\d.]+)/.exec(line) ?? [];
    return usedMiB === undefined || isolate !== mainIsolate ? undefined : Number(usedMiB);
  };
}

/** Creates a reader of the share of the time since its last call that went by on a counter of milliseconds, in percent. */
function createShareReader(readMs: () => number): () => number {
  let last = { atMs: performance.now(), countMs: readMs() };
  return () => {
    const { atMs, countMs } = last;
    last = { atMs: performance.now(), countMs: readMs() };
    return ((last.countMs - countMs) / (last.atMs - atMs)) * 100;
  };
}

interface Sampled {
  readonly pid: number | undefined;
  /** Address of the metrics. */
  readonly metrics: string;
  readonly database: string;
}

async function readSample({ pid, metrics, database }: Sampled) {
  const text = await (await fetch(`http://${metrics}/metrics`)).text();
  return {
    rssMiB: readMemoryMiB(pid),
    descriptors: readdirSync(`/proc/${pid}/fd`).length,
    databaseMiB:
      (statSync(database).size + (statSync(`${database}-wal`, { throwIfNoEntry: false })?.size ?? 0)) / 2 ** 20,
    eventLoopLagMs: readMetric(text, "nodejs_eventloop_lag_p99_seconds") * 1_000,
    queued: readMetric(text, "programme_queue_depth"),
    subscriptions: readMetric(text, "programme_subscriptions") + readMetric(text, "programme_sessions"),
  };
}

/** Returns the sum of a metric over its labels. */
function readMetric(text: string, name: string): number {
  const values = text.matchAll(new RegExp(`^${name}(?:\\{.*\\})? (\\S+)$`, "gm"));
  return [...values].reduce((sum, [, value]) => sum + Number(value), 0);
}
