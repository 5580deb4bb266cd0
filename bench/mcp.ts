/**
 * Compares a tool call through the program with the same call through two minimal servers, on loopback with a trivial
 * upstream, in one interleaved run: over stdio sequentially, over HTTP with 16 calls in flight, in both protocol
 * revisions.
 * The minimal servers check nothing: a bare one (a loop on stdin, or `node:http`, with an undici pool), and the SDK's
 * low-level server with a static tool. Plain undici calls the upstream without MCP. The program validates, throttles,
 * redacts, pseudonymizes and logs as it does by default. `node bench/mcp.ts [stdio|http]`
 */
import { type ChildProcess, fork, spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { path, type Revision, revisions, token } from "./mcp/case.ts";
import { type Flood, httpClient, plainClient, portOf, type Sequence, stdioClient } from "./mcp/drive.ts";
import { readCpuMs } from "./process-usage.ts";

/**
 * Short and many rounds, so that other load affects all candidates alike, and none is idle for so long that V8
 * discards its compiled code.
 */
const rounds = Number(process.env["BENCH_ROUNDS"] ?? 36);
const callsPerRound = 200;
const secondsPerRound = 0.25;
/** Rounds that are not counted, because a server compiles its code in the first seconds. */
const warmUps = 48;
const inFlight = 16;

const floors = fileURLToPath(new URL("mcp/floors.ts", import.meta.url));
const bareLane = fileURLToPath(new URL("mcp/bare.mjs", import.meta.url));
const program = fileURLToPath(new URL(process.env["BENCH_PROGRAM"] ?? "../dist/main.js", import.meta.url));
const directory = mkdtempSync(join(tmpdir(), "programme-bench-"));
const children: ChildProcess[] = [];

try {
  const upstream = `http://127.0.0.1:${await portOf(floor("upstream", ""))}`;
  const [only] = process.argv.slice(2);
  if (only !== "http") reportStdio(await measureStdio(upstream));
  if (only !== "stdio") reportHttp(await measureHttp(upstream));
} finally {
  for (const child of children) child.kill();
  rmSync(directory, { recursive: true, force: true });
}

function floor(role: string, upstream: string): ChildProcess {
  return forked(floors, [role, upstream]);
}

function bare(surface: "stdio" | "http", upstream: string): ChildProcess {
  return forked(bareLane, [surface, upstream, path, token]);
}

function forked(module: string, args: readonly string[]): ChildProcess {
  const child = fork(module, args, { stdio: ["pipe", "pipe", "inherit", "ipc"] });
  children.push(child);
  return child;
}

/** Starts the program as users do, against the upstream. Its log goes where a host would put it. */
function ours(upstream: string, name: string, args: readonly string[]): ChildProcess {
  const env = {
    PATH: process.env["PATH"],
    PROGRAMME_BASE_URL: upstream,
    PROGRAMME_TOKEN: token,
    PROGRAMME_DATABASE: join(directory, `${name}.db`),
    PROGRAMME_REQUESTS_PER_MINUTE: "1000000",
  };
  const child = spawn(process.execPath, [program, ...args], { env, stdio: ["pipe", "pipe", "ignore"] });
  children.push(child);
  return child;
}

/** Measures milliseconds of each call, for each candidate. */
async function measureStdio(upstream: string): Promise<Map<string, number[]>> {
  const candidates = new Map<string, Sequence>([
    ["bare", await stdioClient(bare("stdio", upstream), "2026-07-28")],
    ["SDK", await stdioClient(floor("sdk-stdio", upstream), "2026-07-28")],
  ]);
  for (const revision of revisions) {
    const child = ours(upstream, `stdio-${revision}`, ["stdio"]);
    candidates.set(`program ${revision}`, await stdioClient(child, revision));
  }
  const timesMs = new Map<string, number[]>([...candidates.keys()].map((candidate) => [candidate, []]));
  for (let round = -warmUps; round < rounds; round += 1) {
    for (const [candidate, sequence] of candidates) {
      const times = await sequence(callsPerRound);
      if (round >= 0) timesMs.get(candidate)?.push(...times);
    }
  }
  return timesMs;
}

interface Candidate {
  readonly flood: Flood;
  readonly pid: number | undefined;
  readonly perSecond: number[];
  readonly cpuUs: number[];
}

async function measureHttp(upstream: string): Promise<Map<string, Candidate>> {
  const candidates = new Map<string, Candidate>();
  const add = (name: string, flood: Flood, child?: ChildProcess) =>
    candidates.set(name, { flood, pid: child?.pid, perSecond: [], cpuUs: [] });
  add("undici, no MCP", plainClient(upstream));
  for (const [name, child] of [
    ["bare", bare("http", upstream)],
    ["SDK", floor("sdk-http", upstream)],
  ] as const) {
    add(name, await httpClient(`http://127.0.0.1:${await portOf(child)}`, "2026-07-28", "/"), child);
  }
  for (const revision of revisions) {
    const { origin, child } = await oursOverHttp(upstream, revision);
    add(`program ${revision}`, await httpClient(origin, revision, "/mcp"), child);
  }
  for (let round = -warmUps; round < rounds; round += 1) {
    for (const candidate of candidates.values()) {
      const beforeUs = cpuUsOf(candidate.pid);
      const { perSecond } = await candidate.flood(secondsPerRound, inFlight);
      if (round < 0) continue;
      candidate.perSecond.push(perSecond);
      candidate.cpuUs.push((cpuUsOf(candidate.pid) - beforeUs) / (perSecond * secondsPerRound));
    }
  }
  return candidates;
}

async function oursOverHttp(upstream: string, revision: Revision) {
  const port = await freePort();
  const child = ours(upstream, `http-${revision}`, ["http", "--port", String(port)]);
  const origin = `http://127.0.0.1:${port}`;
  for (let tries = 0; tries < 200; tries += 1) {
    const healthy = await fetch(`${origin}/healthz`).catch(() => undefined);
    if (healthy?.ok) return { origin, child };
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  throw new Error("The program does not answer");
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}

/** Returns the CPU time of a process so far. */
function cpuUsOf(pid: number | undefined): number {
  return pid === undefined ? 0 : readCpuMs(pid) * 1_000;
}

/** Returns the peak resident memory of a process, in MiB. */
function peakMemoryMib(pid: number | undefined): number {
  if (pid === undefined) return 0;
  return Number(/VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1]) / 1024;
}

function reportStdio(candidates: ReadonlyMap<string, readonly number[]>): void {
  const bareMs = quantile(candidates.get("bare") ?? [], 0.5);
  console.log("stdio, one call after the other");
  for (const [candidate, timesMs] of candidates) {
    const p50 = quantile(timesMs, 0.5);
    const p99 = quantile(timesMs, 0.99);
    const wanted = candidate.startsWith("program") ? " (wanted: at most 1.60)" : "";
    console.log(
      `  ${candidate.padEnd(20)} p50 ${p50.toFixed(3)} ms  p99 ${p99.toFixed(3)} ms  ${(p50 / bareMs).toFixed(2)} × bare${wanted}`,
    );
  }
}

function reportHttp(candidates: ReadonlyMap<string, Candidate>): void {
  const bare = candidates.get("bare");
  const barePerSecond = quantile(bare?.perSecond ?? [], 0.5);
  const bareMib = peakMemoryMib(bare?.pid);
  console.log(`HTTP, ${inFlight} in flight`);
  for (const [candidate, { perSecond, cpuUs, pid }] of candidates) {
    const rate = quantile(perSecond, 0.5);
    const memory = pid === undefined ? "" : `  ${peakMemoryMib(pid).toFixed(0)} MiB`;
    const cpu = pid === undefined ? "" : `  ${quantile(cpuUs, 0.5).toFixed(0)} µs CPU`;
    const ratios = `${(rate / barePerSecond).toFixed(2)} × bare's rate, ${(peakMemoryMib(pid) / bareMib).toFixed(2)} × its memory`;
    const wanted = candidate.startsWith("program") ? " (wanted: at least 0.60, at most 1.50)" : "";
    console.log(`  ${candidate.padEnd(20)} ${rate.toFixed(0)}/s${cpu}${memory}  ${ratios}${wanted}`);
  }
}

function quantile(values: readonly number[], share: number): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length * share)] ?? 0;
}
