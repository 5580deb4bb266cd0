/**
 * Measures `search_records` as a database grows: p50 and p99 of searches, the memory that one adds, the time and size
 * of the index, and what the index costs writes. There are a tenth as many persons, and
 * a fiftieth as many reviewers.
 *
 * `node bench/search.ts [--sizes 10000,100000,1000000] [--engines SQLite,PostgreSQL] [--directory DIR] [--calls 20]`
 *
 * Exits with 1 if the median of a search exceeds two seconds.
 */
import { chmodSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { issueToken } from "../src/app/access/issue-token.ts";
import { type App, createApp } from "../src/app/app.ts";
import { loadConfig } from "../src/config/load.ts";
import { scopes } from "../src/contract/access/scopes.ts";
import { splitInput } from "../src/contract/definition/operation.ts";
import { type CallName, operations } from "../src/contract/index.ts";
import { createId } from "../src/lib/ids.ts";
import { createFactory } from "../test/support/data/seed-factory.ts";
import { startPostgres } from "../test/support/database/postgres-server.ts";
import { type EngineName, engineNames } from "./scale/fill.ts";
import { quantile } from "./scale/measure.ts";
import { fillRecords, readSizeBytes } from "./search/records.ts";

const { values: options } = parseArgs({
  options: {
    sizes: { type: "string", default: "10000,100000,1000000" },
    engines: { type: "string", default: engineNames.join() },
    directory: { type: "string", default: join(tmpdir(), "search-bench") },
    calls: { type: "string", default: "20" },
  },
});
const sizes = options.sizes.split(",").map(Number);
const engines = engineNames.filter((name) => options.engines.split(",").includes(name));
const calls = Number(options.calls);
const businessId = "biz_bench";
const wantedMs = 2_000;
const rowsPerIndexing = 100;
const writes = 300;

setFlagsFromString("--expose-gc");
const collectGarbage = runInNewContext("gc") as () => void;

mkdirSync(options.directory, { recursive: true, mode: 0o755 });
const slow: string[] = [];
for (const engine of engines) await examine(engine);
if (slow.length > 0) console.log(`Slower than ${wantedMs} ms: ${slow.join(", ")}`);
// Explicit, because the package that runs PostgreSQL exits with 0 whatever `process.exitCode` is.
process.exit(slow.length > 0 ? 1 : 0);

async function examine(engine: EngineName): Promise<void> {
  const directory = mkdtempSync(join(options.directory, "databases-"));
  // A server that root starts runs as another user.
  chmodSync(directory, 0o755);
  const settings = { synchronous_commit: "on", fsync: "on", shared_buffers: "1GB", max_wal_size: "4GB" };
  const server = engine === "PostgreSQL" ? await startPostgres({ directory, settings }) : undefined;
  try {
    for (const size of sizes) {
      const database = server ? await createDatabase(server.address, size) : join(directory, `${size}.db`);
      await examineSize(engine, database, size);
    }
  } finally {
    await server?.stop();
    rmSync(directory, { recursive: true, force: true });
  }
}

async function createDatabase(address: string, size: number): Promise<string> {
  const { default: pg } = await import("pg");
  const client = new pg.Client(address);
  await client.connect();
  await client.query(`create database search_${size}`);
  await client.end();
  return Object.assign(new URL(address), { pathname: `/search_${size}` }).href;
}

async function examineSize(engine: EngineName, database: string, size: number): Promise<void> {
  const config = loadConfig({
    PROGRAMME_DATABASE: database,
    PROGRAMME_DATA_DIR: options.directory,
    PROGRAMME_SECRET_KEY: "5e".repeat(32),
    PROGRAMME_REQUESTS_PER_MINUTE: "1000000",
    PROGRAMME_LOG_LEVEL: "error",
  });
  const app = await createApp(config);
  await app.store.insertBusiness({ businessId, name: "Bench", createdAt: new Date().toISOString() });
  const { token } = await issueToken(app.store, { businessId, name: "bench", scopes, expiresAt: null });
  const template = await app.store.transaction(
    { businessId, actorId: "usr_bench", now: new Date().toISOString() },
    async (tx) => {
      const factory = createFactory((work) => work(tx));
      return {
        submission: await factory.submission(),
        person: await factory.person(),
        reviewer: await factory.reviewer(),
      };
    },
  );
  await fillRecords(database, template, size);
  const before = await readSizeBytes(engine, database);
  const startMs = performance.now();
  // Larger batches than in production, where other writers wait for each.
  while (await app.store.indexRows(20 * rowsPerIndexing)) {
    // Until nothing is left.
  }
  const seconds = (performance.now() - startMs) / 1000;
  const after = await readSizeBytes(engine, database, "analyze");
  const megabytes = ((after - before) / 1e6).toFixed(0);
  console.log(
    `\n${engine}, ${size} submissions: indexed in ${seconds.toFixed(0)} s, ${megabytes} MB of ${(after / 1e6).toFixed(0)}`,
  );
  const { trackId, programId } = template.submission;
  const searches: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {
    "a number that one has": { words: `n${size >> 1}` },
    "a name and a number": { words: `marsh n${size >> 1}` },
    "a word that few have": { words: "rareword7" },
    "a word that all have, and a number": { words: `roof n${size >> 1}` },
    "two words that all have": { words: "roof school" },
    "a word that all have, in a programme": { words: "roof", programId },
    "a letter": { words: "r" },
    "an address": { words: `a${size >> 1}@example.org` },
    nothing: { words: "zzzz" },
  };
  for (const [label, input] of Object.entries(searches))
    await measureSearch(app, token, `${engine} ${size} ${label}`, input);
  await measureWrites(app, token, trackId);
  await app.close();
}

async function measureSearch(app: App, token: string, label: string, input: Readonly<Record<string, unknown>>) {
  const call = { operation: "search_records", input, token, requestId: "req_bench" } as const;
  const times: number[] = [];
  collectGarbage();
  const before = process.memoryUsage().heapUsed;
  let peak = before;
  let rows = 0;
  for (let index = 0; index < calls; index += 1) {
    const startMs = performance.now();
    const answer = await app.upstream.call({
      ...call,
      progress: async () => {
        peak = Math.max(peak, process.memoryUsage().heapUsed);
      },
    });
    times.push(performance.now() - startMs);
    if (!answer.ok) throw answer.problem;
    rows = (answer.data as { results: unknown[] }).results.length;
  }
  const [fastest, p50, p99] = [0, 0.5, 0.99].map((share) => quantile(times, share)) as [number, number, number];
  if (p50 > wantedMs) slow.push(label);
  const memory = `${((peak - before) / 2 ** 20).toFixed(0)} MiB`;
  console.log(
    `${label.padEnd(62)} fastest ${fastest.toFixed(1).padStart(7)} ms  p50 ${p50.toFixed(1).padStart(7)} ms  p99 ${p99.toFixed(1).padStart(7)} ms  ${memory.padStart(7)}  ${rows} results`,
  );
}

/** Writes wait for the index only when it is being filled. The second figure includes filling it. */
async function measureWrites(app: App, token: string, trackId: string): Promise<void> {
  const send = async (operation: CallName, input: Readonly<Record<string, unknown>>) => {
    const parts = splitInput(operations[operation], input);
    const answer = await app.pipeline.execute({ operation, token, parts, requestId: createId("req") });
    if (!answer.ok) throw answer.problem;
  };
  const measureCreations = async (batch: number) => {
    const startMs = performance.now();
    for (let index = 1; index <= writes; index += 1) {
      await send("create_submission", {
        trackId,
        fields: { fld_title: `A light roof for the school, as number ${index}` },
        deadline: "2099-01-01T00:00:00Z",
        innovatorEmail: `${createId("inn").toLowerCase()}@example.org`,
        innovatorName: "Ada Marsh",
      });
      if (index % batch === 0) while (await app.store.indexRows(rowsPerIndexing));
    }
    return (performance.now() - startMs) / writes;
  };
  await measureCreations(Number.POSITIVE_INFINITY);
  while (await app.store.indexRows(rowsPerIndexing));
  const [plain, indexed] = [[], []] as [number[], number[]];
  for (let round = 0; round < 3; round += 1) {
    plain.push(await measureCreations(Number.POSITIVE_INFINITY));
    while (await app.store.indexRows(rowsPerIndexing));
    indexed.push(await measureCreations(rowsPerIndexing));
  }
  const [without, including] = [plain, indexed].map((times) => quantile(times, 0.5).toFixed(2));
  console.log(`a new submission: ${without} ms; ${including} ms with the time to index it`);
}
