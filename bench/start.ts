/**
 * Measures a start over stdio, from the process to the response to `tools/list`, and the memory of the idle process: of
 * the program, and of a bare SDK server that is bundled in the same way, alternately. Also prints the processor time,
 * which varies less on a busy machine.
 *
 *     node bench/start.ts [ROUNDS]
 */
import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { availableParallelism, tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { setTimeout as delay } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { rolldown } from "rolldown";
import { bundleProgram } from "../scripts/bundle-program.ts";

interface Case {
  readonly name: string;
  readonly args: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  /** The promised limit, as a multiple of the bare server's value. */
  readonly most?: number;
}

interface Start {
  readonly ms: number;
  /** Undefined if the platform does not report it. */
  readonly cpuMs: number | undefined;
  readonly tools: number;
}

const rounds = Number(process.argv[2] ?? 20);
/** Time after which V8 has released the memory that only the start needed. */
const idleSeconds = 20;
const mostMemory = 1.3;
const folder = mkdtempSync(join(tmpdir(), "programme-start-"));
try {
  await run();
} finally {
  rmSync(folder, { recursive: true, force: true });
}

async function run(): Promise<void> {
  const cases = await prepare();
  console.log(`Node ${process.versions.node}, ${availableParallelism()} cores, ${rounds} rounds\n`);
  const [cacheEnv, anew] = [{ NODE_COMPILE_CACHE: join(folder, "compiled") }, { NODE_DISABLE_COMPILE_CACHE: "1" }];
  report(
    "As installed: the program lets Node keep what it compiles, the bare server does not",
    await measure(cases, {}),
  );
  report("Both with what Node has kept compiled", await measure(cases, cacheEnv));
  report("Both compiled anew", await measure(cases, anew));
  await reportMemory(cases);
}

/** Builds both programs and fills a database. */
async function prepare(): Promise<Case[]> {
  const bare = await rolldown({ input: fileURLToPath(new URL("start/bare.ts", import.meta.url)), platform: "node" });
  await bare.write({ dir: join(folder, "bare"), format: "esm", minify: true, entryFileNames: "main.mjs" });
  await bundleProgram(join(folder, "programme", "dist"));
  // As npm installs it. Without the type, Node would parse each file twice.
  writeFileSync(join(folder, "programme", "package.json"), '{ "type": "module" }');
  const main = join(folder, "programme", "dist", "main.js");
  const database = join(folder, "programme.db");
  const runProgram = (args: readonly string[]) =>
    execFileSync(process.execPath, [main, ...args, "--database", database], { env: environment({}), encoding: "utf8" });
  runProgram(["seed", "--demo"]);
  const [, business = ""] = /"businessId":"(\w+)"/.exec(runProgram(["token", "list", "--json"])) ?? [];
  const issued = runProgram(["token", "create", "--business", business, "--scopes", "all", "--json"]);
  const token = "0123456789abcdef".repeat(4);
  return [
    { name: "bare SDK server", args: [join(folder, "bare", "main.mjs")] },
    {
      name: "remote",
      args: [main],
      env: { PROGRAMME_BASE_URL: "http://127.0.0.1:9", PROGRAMME_TOKEN: token },
      most: 1.2,
    },
    {
      name: "embedded, a token of its database",
      args: [main],
      env: { PROGRAMME_DATABASE: database, PROGRAMME_TOKEN: /"token":"(\w+)"/.exec(issued)?.[1] ?? "" },
      most: 1.2,
    },
  ];
}

type Environment = Readonly<Record<string, string>>;

async function measure(cases: readonly Case[], cacheEnv: Environment): Promise<Map<Case, Start[]>> {
  const starts = new Map(cases.map((each) => [each, [] as Start[]]));
  // The first round fills caches and is not counted.
  for (let round = 0; round <= rounds; round++) {
    for (const each of cases) {
      const start = await startOnce(each, cacheEnv);
      if (round > 0) starts.get(each)?.push(start);
    }
  }
  return starts;
}

async function startOnce(each: Case, cacheEnv: Environment): Promise<Start> {
  const begun = performance.now();
  const child = begin(each, cacheEnv);
  const tools = await listTools(child);
  const ms = performance.now() - begun;
  const cpuMs = cpuOf(child.pid as number);
  await end(child);
  return { ms, cpuMs, tools };
}

function begin({ args, env }: Case, cacheEnv: Environment): ChildProcess {
  return spawn(process.execPath, args, {
    env: environment({ ...cacheEnv, ...env }),
    stdio: ["pipe", "pipe", "inherit"],
  });
}

async function end(child: ChildProcess): Promise<void> {
  child.stdin?.end();
  const killer = setTimeout(() => child.kill(), 2_000);
  await once(child, "exit");
  clearTimeout(killer);
}

/** Does what a client of 2025-11-25 does before it can show tools. */
async function listTools(child: ChildProcess): Promise<number> {
  if (!child.stdin || !child.stdout) throw new Error("The server has no pipes");
  const { stdin } = child;
  const say = (message: object) => stdin.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
  const clientInfo = { name: "bench", version: "1.0.0" };
  say({ id: 1, method: "initialize", params: { protocolVersion: "2025-11-25", capabilities: {}, clientInfo } });
  for await (const line of createInterface({ input: child.stdout })) {
    const { id, result } = JSON.parse(line) as { id?: number; result?: { tools?: unknown[] } };
    if (id === 1) {
      say({ method: "notifications/initialized" });
      say({ id: 2, method: "tools/list" });
    }
    if (id === 2) return result?.tools?.length ?? 0;
  }
  throw new Error("The server ended before it listed its tools");
}

function environment(env: Readonly<Record<string, string>>): Record<string, string> {
  return { PATH: process.env["PATH"] ?? "", HOME: folder, ...env };
}

/** Returns the processor time of a process so far, over all its threads: the first number of each, in nanoseconds. */
function cpuOf(pid: number): number | undefined {
  if (process.platform !== "linux") return undefined;
  const threads = readdirSync(`/proc/${pid}/task`);
  const spent = threads.map((thread) =>
    Number.parseInt(readFileSync(`/proc/${pid}/task/${thread}/schedstat`, "utf8"), 10),
  );
  return spent.reduce((sum, each) => sum + each, 0) / 1e6;
}

/** Returns the resident memory, in megabytes. */
function rssOf(pid: number): number {
  if (process.platform !== "linux") return Number(execFileSync("ps", ["-o", "rss=", "-p", String(pid)])) / 1024;
  return Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1]) / 1024;
}

function report(title: string, starts: ReadonlyMap<Case, readonly Start[]>): void {
  console.log(title);
  const [bare = []] = starts.values();
  for (const [{ name, most }, of] of starts) {
    const wall = compared(of, bare, ({ ms }) => ms);
    const cpu = of[0]?.cpuMs === undefined ? "" : `; processor ${compared(of, bare, ({ cpuMs = 0 }) => cpuMs)}`;
    const label = `  ${name}, ${of[0]?.tools} tools`.padEnd(46);
    console.log(`${label}${wall}${cpu}${most === undefined ? "" : ` (promised ${most} ×)`}`);
  }
  console.log();
}

/** Returns the median, and its ratio to the median of the baseline. */
function compared(of: readonly Start[], base: readonly Start[], value: (start: Start) => number): string {
  const [own, other] = [median(of.map(value)), median(base.map(value))];
  return `${own.toFixed(0).padStart(4)} ms ${(own / other).toFixed(2)} ×`;
}

/** Waits for so long, and returns the memory of each server after that. */
async function idle(cases: readonly Case[], seconds: number): Promise<number[]> {
  const children = cases.map((each) => begin(each, {}));
  await Promise.all(children.map(listTools));
  await delay(seconds * 1000);
  const used = children.map((child) => rssOf(child.pid as number));
  await Promise.all(children.map(end));
  return used;
}

async function reportMemory(cases: readonly Case[]): Promise<void> {
  // Waits first, so that no events are left to send after filling: a sending server is not idle.
  await idle(cases, 5);
  const used = await idle(cases, idleSeconds);
  console.log(`Memory after ${idleSeconds} idle seconds (promised ${mostMemory} ×)`);
  for (const [index, { name }] of cases.entries()) {
    const [own = Number.NaN, bare = Number.NaN] = [used[index], used[0]];
    console.log(`${`  ${name}`.padEnd(46)}${own.toFixed(0).padStart(4)} MB ${(own / bare).toFixed(2)} ×`);
  }
}

function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
}
