/**
 * `npm run bench`: compares the program with other servers that give the same interface to agents, in one interleaved
 * run with their default settings. All of them call the same service, or have it embedded. Writes the results to
 * `bench/results/peers.json` and `docs/benchmarks.md`. Needs Linux, and npm to install the peers.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { freePort } from "../test/support/processes/free-port.ts";
import { describeMachine } from "./machine.ts";
import { listCandidates, prepareBareServer, preparePeers, type Service } from "./peers/candidates.ts";
import { type Calls, measure, stopAll } from "./peers/measure.ts";
import { type Results, writePage } from "./peers/page.ts";

const directory = mkdtempSync(join(tmpdir(), "programme-bench-"));
const program = fileURLToPath(new URL("../dist/main.js", import.meta.url));

const { service, stop } = await startService();
try {
  await preparePeers(service);
  const bare = await prepareBareServer();
  const calls = await chooseCalls(service);
  const { figures, ...floors } = await measure(listCandidates(service), bare, calls, service.token);
  const results: Results = {
    measuredAt: new Date().toISOString().slice(0, 10),
    node: process.version,
    machine: describeMachine(),
    ...floors,
    candidates: [...figures].map(([{ name, isPeer }, values]) => ({ name, isPeer, ...values })),
  };
  const folder = new URL("results/", import.meta.url);
  mkdirSync(folder, { recursive: true });
  writeFileSync(new URL("peers.json", folder), `${JSON.stringify(results, null, 2)}\n`);
  writePage(results);
  console.table(results.candidates);
} finally {
  await stopAll();
  await stop();
  rmSync(directory, { recursive: true, force: true });
}

/** Starts the service that all candidates call, with demonstration data. */
async function startService(): Promise<{ service: Service; stop: () => Promise<unknown> }> {
  const database = join(directory, "service.db");
  const port = await freePort();
  const env = {
    PATH: process.env["PATH"],
    HOME: directory,
    PROGRAMME_DATABASE: database,
    PROGRAMME_DEMO: "true",
    PROGRAMME_REQUESTS_PER_MINUTE: "1000000",
  };
  const child = spawn(process.execPath, [program, "http", "--port", String(port)], {
    env,
    stdio: ["ignore", "pipe", "inherit"],
  });
  for await (const line of createInterface({ input: child.stdout })) {
    const token = /Token\s+(\S+)/.exec(line)?.[1];
    if (token === undefined) continue;
    child.stdout.resume();
    const stop = async () => child.kill() && (await once(child, "close"));
    return { service: { origin: `http://127.0.0.1:${port}`, token, database }, stop };
  }
  throw new Error("The service has not started");
}

/** Chooses a record with an ordinary title, of the programme with the most submissions. */
async function chooseCalls({ origin, token }: Service): Promise<Calls> {
  const list = async (path: string) => {
    const headers = { authorization: `Bearer ${token}` };
    const answer = await fetch(`${origin}/integrations/v1${path}`, { headers });
    return ((await answer.json()) as { data: Record<string, string>[] }).data;
  };
  for (const { programId = "" } of await list("/programs")) {
    const rows = await list(`/submissions?programId=${programId}&limit=50`);
    const row = rows.find(({ title }) => title !== null && /^[\w ]+$/.test(String(title)));
    if (rows.length < 50 || !row) continue;
    return { programId, submissionId: String(row["submissionId"]), title: String(row["title"]) };
  }
  throw new Error("No programme has a page of submissions");
}
