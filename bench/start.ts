/**
 * How long a start takes over stdio, from the process to the answer to `tools/list`, and how much memory it holds then:
 * the program, and a bare server of the SDK that is bundled in the same way, turn by turn.
 *
 *     node bench/start.ts [ROUNDS]
 */
import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
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
  /** What is promised, times the bare server's. */
  readonly most?: number;
}

interface Start {
  readonly ms: number;
  readonly rssMb: number;
  readonly tools: number;
}

const rounds = Number(process.argv[2] ?? 20);
const idleMs = 1_000;
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
  const compiled = join(folder, "compiled");
  report("With what Node has kept compiled", cases, await measure(cases, { NODE_COMPILE_CACHE: compiled }));
  report("Compiled anew", cases, await measure(cases, { NODE_DISABLE_COMPILE_CACHE: "1" }));
}

/** Builds both programs and fills a database. */
async function prepare(): Promise<Case[]> {
  const bare = await rolldown({ input: fileURLToPath(new URL("start/bare.ts", import.meta.url)), platform: "node" });
  await bare.write({ dir: join(folder, "bare"), format: "esm", minify: true, entryFileNames: "main.mjs" });
  await bundleProgram(join(folder, "programme", "dist"));
  const main = join(folder, "programme", "dist", "main.js");
  const database = join(folder, "programme.db");
  execFileSync(process.execPath, [main, "seed", "--demo", "--database", database], { env: environment({}) });
  const token = "0123456789abcdef".repeat(4);
  return [
    { name: "bare SDK server", args: [join(folder, "bare", "main.mjs")] },
    {
      name: "remote",
      args: [main],
      env: { PROGRAMME_BASE_URL: "http://127.0.0.1:9", PROGRAMME_TOKEN: token },
      most: 1.2,
    },
    { name: "embedded, a database that exists", args: [main, "--database", database], most: 1.6 },
  ];
}

async function measure(cases: readonly Case[], kept: Readonly<Record<string, string>>): Promise<Map<Case, Start[]>> {
  const starts = new Map(cases.map((each) => [each, [] as Start[]]));
  // The first round fills what is kept, of files too, and is not counted.
  for (let round = 0; round <= rounds; round++) {
    for (const each of cases) {
      const start = await startOnce(each, kept);
      if (round > 0) starts.get(each)?.push(start);
    }
  }
  return starts;
}

async function startOnce({ args, env }: Case, kept: Readonly<Record<string, string>>): Promise<Start> {
  const begun = performance.now();
  const child = spawn(process.execPath, args, {
    env: environment({ ...kept, ...env }),
    stdio: ["pipe", "pipe", "inherit"],
  });
  const tools = await listTools(child);
  const ms = performance.now() - begun;
  await delay(idleMs);
  const rssMb = rssOf(child.pid as number);
  child.stdin?.end();
  const killer = setTimeout(() => child.kill(), idleMs);
  await once(child, "exit");
  clearTimeout(killer);
  return { ms, rssMb, tools };
}

/** What a client of 2025-11-25 does before it can show tools. */
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

/** Resident memory, in megabytes. */
function rssOf(pid: number): number {
  if (process.platform !== "linux") return Number(execFileSync("ps", ["-o", "rss=", "-p", String(pid)])) / 1024;
  return Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1]) / 1024;
}

function report(title: string, cases: readonly Case[], starts: ReadonlyMap<Case, readonly Start[]>): void {
  console.log(title);
  const rows = cases.map((each) => {
    const of = starts.get(each) ?? [];
    return { each, tools: of[0]?.tools, ms: median(of.map(({ ms }) => ms)), rssMb: median(of.map((s) => s.rssMb)) };
  });
  const [bare] = rows;
  for (const { each, tools, ms, rssMb } of rows) {
    const times = (value: number, base = Number.NaN) => `${(value / base).toFixed(2)} ×`;
    const [time, memory] = [times(ms, bare?.ms), times(rssMb, bare?.rssMb)];
    const promised = each.most ? ` (promised: ${each.most} × and ${mostMemory} ×)` : "";
    const name = `  ${each.name}, ${tools} tools`.padEnd(48);
    console.log(`${name} ${ms.toFixed(0)} ms ${time}, ${rssMb.toFixed(0)} MB ${memory}${promised}`);
  }
  console.log();
}

function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
}
