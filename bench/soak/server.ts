import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { readdirSync, readFileSync, statSync } from "node:fs";
import { createInterface } from "node:readline";

/** The measurements of the service at one time. */
export interface Sample {
  readonly atSeconds: number;
  readonly rssMiB: number;
  /** Used after a collection of garbage. */
  readonly heapMiB: number;
  readonly descriptors: number;
  readonly databaseMiB: number;
  /** The 99th percentile since the last sample. */
  readonly eventLoopLagMs: number;
  /** Due work of all queues. */
  readonly queued: number;
  readonly subscriptions: number;
}

/** A running service with its inspector. */
export interface SoakServer {
  readonly origin: string;
  /** The link to set up the first account. */
  readonly ownerLink: string;
  sample(atSeconds: number): Promise<Sample>;
  stop(): Promise<void>;
}

const inspectorPort = 47_991;
const metrics = "127.0.0.1:47992";

export async function startServer(program: string, env: Readonly<Record<string, string>>): Promise<SoakServer> {
  const child = spawn(
    process.execPath,
    [`--inspect=127.0.0.1:${inspectorPort}`, program, "http", "--port", "47990", "--metrics", metrics],
    { env: { PATH: process.env["PATH"], ...env }, stdio: ["ignore", "pipe", "pipe"] },
  );
  const inspectorUrl = await readInspectorUrl(child);
  let origin: string | undefined;
  for await (const line of createInterface({ input: child.stdout })) {
    origin ??= /http:\/\/\S+?:\d+/.exec(line)?.[0];
    const [ownerLink] = /http:\/\/\S+\/join\/\S+/.exec(line) ?? [];
    if (ownerLink === undefined || origin === undefined) continue;
    child.stdout.resume();
    const inspector = await openInspector(inspectorUrl);
    return {
      origin,
      ownerLink,
      sample: (atSeconds) => takeSample(child, env["PROGRAMME_DATABASE"] ?? "", inspector, atSeconds),
      async stop() {
        inspector.close();
        child.kill();
        if (child.exitCode === null) await once(child, "close");
      },
    };
  }
  throw new Error("The service has not started");
}

async function readInspectorUrl(child: ChildProcess): Promise<string> {
  const { stderr } = child;
  if (!stderr) throw new Error("The process has no pipes");
  const { promise, resolve } = Promise.withResolvers<string>();
  createInterface({ input: stderr }).on("line", (line) => {
    const [url] = /ws:\/\/\S+/.exec(line) ?? [];
    if (url !== undefined) resolve(url);
    else if (line !== "" && !/debugg|inspector/i.test(line)) console.error(line);
  });
  return promise;
}

interface Inspector {
  ask(method: string): Promise<Readonly<Record<string, number>>>;
  close(): void;
}

async function openInspector(url: string): Promise<Inspector> {
  const socket = new WebSocket(url);
  await once(socket, "open");
  const waiting = new Map<number, (result: Record<string, number>) => void>();
  let lastId = 0;
  socket.addEventListener("message", ({ data }) => {
    const { id, result } = JSON.parse(String(data));
    waiting.get(id)?.(result);
    waiting.delete(id);
  });
  return {
    ask(method) {
      lastId += 1;
      const { promise, resolve } = Promise.withResolvers<Record<string, number>>();
      waiting.set(lastId, resolve);
      socket.send(JSON.stringify({ id: lastId, method }));
      return promise;
    },
    close: () => socket.close(),
  };
}

async function takeSample(
  { pid }: ChildProcess,
  database: string,
  inspector: Inspector,
  atSeconds: number,
): Promise<Sample> {
  const text = await (await fetch(`http://${metrics}/metrics`)).text();
  // After the metrics, whose lag would include this pause.
  await inspector.ask("HeapProfiler.collectGarbage");
  const { usedSize = 0 } = await inspector.ask("Runtime.getHeapUsage");
  const status = readFileSync(`/proc/${pid}/status`, "utf8");
  return {
    atSeconds,
    rssMiB: Number(/VmRSS:\s+(\d+)/.exec(status)?.[1]) / 1_024,
    heapMiB: usedSize / 2 ** 20,
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
