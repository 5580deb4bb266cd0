/**
 * Measures how one organisation's light, regular calls slow down while another one sends as much as it can, over many
 * tokens and connections: reads, lists, workflows that scan, writes, bulk writes, exports and all at once. Quiet and
 * loaded times alternate in short rounds, so that other load on the machine affects both alike. Writes
 * `bench/results/tenants.json` for `docs/scaling.md` (`npm run gen`), and exits with 1 if a p99 is more than three times
 * that of the quiet times. Both organisations use one process, and then each its own on the same database.
 *
 * `node bench/tenants.ts [--engines SQLite,PostgreSQL] [--loads reads,lists] [--processes 1,2] [--rounds 5] [--seconds 4]`
 */
import { type ChildProcess, fork, spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { setTimeout as delay } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { Pool } from "undici";
import { issueToken } from "../src/app/access/issue-token.ts";
import { createApp } from "../src/app/app.ts";
import { loadConfig } from "../src/config/load.ts";
import { scopes } from "../src/contract/access/scopes.ts";
import { startPostgres } from "../test/support/database/postgres-server.ts";
import { freePort } from "../test/support/processes/free-port.ts";
import { describeMachine } from "./machine.ts";
import { type EngineName, engineNames } from "./scale/fill.ts";
import { quantile } from "./scale/measure.ts";
import { createLightCalls, loadNames, type Organization, type Sent } from "./tenants/calls.ts";
import { type Figure, type Results, wantedRatio } from "./tenants/results.ts";
import { seedWorld } from "./workflows/world.ts";

const { values: options } = parseArgs({
  options: {
    engines: { type: "string", default: engineNames.join() },
    loads: { type: "string", default: loadNames.join() },
    processes: { type: "string", default: "1,2" },
    rounds: { type: "string", default: "5" },
    seconds: { type: "string", default: "4" },
  },
});
const rounds = Number(options.rounds);
const seconds = Number(options.seconds);
const noisyTokens = 32;
const pauseMs = 10;
const program = fileURLToPath(new URL("../dist/main.js", import.meta.url));

/** Durations in milliseconds by kind of call. */
type Times = Map<string, number[]>;

const figures: Figure[] = [];
for (const engine of engineNames) {
  if (options.engines.split(",").includes(engine)) await examine(engine);
}
const measuredAt = new Date().toISOString().slice(0, 10);
const results: Results = { measuredAt, machine: describeMachine(), rounds, seconds, figures };
writeFileSync(new URL("results/tenants.json", import.meta.url), `${JSON.stringify(results, null, 2)}\n`);
// Explicit, because the package that runs PostgreSQL exits with 0 whatever `process.exitCode` is.
process.exit(figures.some(({ ratio }) => ratio > wantedRatio) ? 1 : 0);

async function examine(engine: EngineName): Promise<void> {
  const directory = mkdtempSync(join(tmpdir(), "programme-tenants-"));
  // A server that root starts runs as another user.
  chmodSync(directory, 0o755);
  const settings = { synchronous_commit: "on", fsync: "on" };
  const postgres = engine === "PostgreSQL" ? await startPostgres({ directory, settings }) : undefined;
  const environment = {
    PROGRAMME_DATABASE: postgres?.address ?? join(directory, "bench.db"),
    PROGRAMME_DATA_DIR: directory,
    PROGRAMME_SECRET_KEY: "5e".repeat(32),
    PROGRAMME_REQUESTS_PER_MINUTE: "1000000",
    PROGRAMME_EXPORT_INTERVAL_SECONDS: "0",
    PROGRAMME_LOG_LEVEL: "error",
  };
  try {
    const noisy = await seed(environment, "biz_noisy", noisyTokens);
    const light = await seed(environment, "biz_light", 1);
    for (const processes of options.processes.split(",").map(Number)) {
      const servers: Server[] = [];
      try {
        while (servers.length < processes) servers.push(await startServer(environment));
        await compare(engine, servers, light, noisy);
      } finally {
        for (const { child } of servers) child.kill();
        await Promise.all(servers.map(({ child }) => child.exitCode === null && once(child, "close")));
      }
    }
  } finally {
    await postgres?.stop();
    rmSync(directory, { recursive: true, force: true });
  }
}

async function seed(
  environment: Record<string, string>,
  businessId: string,
  tokenCount: number,
): Promise<Organization> {
  const app = await createApp(loadConfig(environment));
  const size = tokenCount > 1 ? 5_000 : 200;
  const target = await seedWorld(app.store, businessId, { submissions: size, persons: size, auditEntries: size });
  const reader = app.store.reader(businessId);
  const reviewers = await reader.find("reviewers", {}, { limit: 50 });
  const submissions = await reader.find("submissions", {}, { limit: 1_000 });
  const tokens = await Promise.all(
    Array.from({ length: tokenCount }, () =>
      issueToken(app.store, { businessId, name: "bench", scopes, expiresAt: null }),
    ),
  );
  await app.close();
  return {
    ...target,
    reviewerIds: reviewers.map(({ reviewerId }) => reviewerId),
    submissionIds: submissions.map(({ submissionId }) => submissionId),
    tokens: tokens.map(({ token }) => token),
  };
}

interface Server {
  readonly child: ChildProcess;
  readonly origin: string;
}

async function startServer(environment: Record<string, string>): Promise<Server> {
  const env = { PATH: process.env["PATH"], ...environment };
  const child = spawn(process.execPath, [program, "http", "--port", String(await freePort())], {
    env,
    stdio: ["ignore", "pipe", "inherit"],
  });
  for await (const line of createInterface({ input: child.stdout })) {
    const [origin] = /http:\/\/\S+?:\d+/.exec(line) ?? [];
    if (origin === undefined) continue;
    child.stdout.resume();
    return { child, origin };
  }
  throw new Error("The service has not started");
}

/** Compares quiet and loaded times. The light organisation calls the first of the servers, the other one the last. */
async function compare(
  engine: EngineName,
  servers: readonly Server[],
  light: Organization,
  noisy: Organization,
): Promise<void> {
  const [origin = "", noisyOrigin = ""] = [servers[0]?.origin, servers.at(-1)?.origin];
  const calls = createLightCalls(light);
  await call(origin, calls, 3, new Map());
  for (const load of loadNames) {
    if (!options.loads.split(",").includes(load)) continue;
    const quiet: Times = new Map();
    const loaded: Times = new Map();
    const answers: Record<string, number> = {};
    for (let round = 0; round < rounds; round += 1) {
      await call(origin, calls, seconds, quiet);
      const noise = fork(new URL("tenants/noise.ts", import.meta.url));
      noise.send({ origin: noisyOrigin, load, noisy });
      await delay(1_500);
      await call(origin, calls, seconds, loaded);
      noise.send("stop");
      const [counts] = (await once(noise, "message")) as [Record<string, number>];
      for (const [answer, count] of Object.entries(counts)) answers[answer] = (answers[answer] ?? 0) + count;
      // The exports that it has asked for end.
      await delay(1_000);
    }
    report({ engine, load, processes: servers.length }, quiet, loaded, answers);
  }
}

/** Sends each kind of call in turn, one call at a time, and adds how long each took. Each kind is the first in turn. */
async function call(origin: string, calls: Readonly<Record<string, () => Sent>>, forSeconds: number, times: Times) {
  const pool = new Pool(origin, { connections: 1 });
  const endsAtMs = performance.now() + forSeconds * 1_000;
  const kinds = Object.entries(calls);
  for (let first = 0; performance.now() < endsAtMs; first = (first + 1) % kinds.length) {
    for (const [kind, create] of [...kinds.slice(first), ...kinds.slice(0, first)]) {
      const startedAtMs = performance.now();
      const answer = await pool.request(create());
      const text = await answer.body.text();
      const ofKind = times.get(kind) ?? [];
      ofKind.push(performance.now() - startedAtMs);
      times.set(kind, ofKind);
      if (answer.statusCode !== 200 || text.includes('"isError":true')) throw new Error(`${kind}: ${text}`);
      await delay(pauseMs);
    }
  }
  await pool.close();
}

function report(
  measured: Pick<Figure, "engine" | "load" | "processes">,
  quiet: Times,
  loaded: Times,
  answers: Readonly<Record<string, number>>,
): void {
  const counts = Object.entries(answers).map(([answer, count]) => `${answer}: ${count}`);
  console.log(`\n${Object.values(measured).join(", ")} process(es): ${counts.join(", ")}`);
  for (const [kind, times] of quiet) {
    const under = loaded.get(kind) ?? [];
    const [quietP50Ms, quietP99Ms] = [quantile(times, 0.5), quantile(times, 0.99)];
    const [loadedP50Ms, loadedP99Ms] = [quantile(under, 0.5), quantile(under, 0.99)];
    const ratio = loadedP99Ms / quietP99Ms;
    figures.push({ ...measured, kind, quietP50Ms, quietP99Ms, loadedP50Ms, loadedP99Ms, ratio });
    const shown = [quietP50Ms, quietP99Ms, loadedP50Ms, loadedP99Ms].map((ms) => ms.toFixed(1).padStart(7));
    const mark = ratio > wantedRatio ? "BAD" : "ok";
    console.log(
      `  ${kind.padEnd(14)} quiet p50 ${shown[0]} p99 ${shown[1]}, loaded p50 ${shown[2]} p99 ${shown[3]} ms: ${ratio.toFixed(1)} × ${mark} (${under.length} calls)`,
    );
  }
}
