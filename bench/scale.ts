/**
 * Measures requests as a database grows: p50 and p99 of every list, of single records and of the main writes, through
 * the pipeline, at each size on each engine. Exits with 1 if a page or a single record takes more than twice as long at
 * the largest size as at the smallest.
 *
 * `node bench/scale.ts [--sizes 10000,100000,1000000] [--engines SQLite,PostgreSQL] [--directory DIR] [--rounds 12]
 * [--copies 1] [--partitions 0]`
 *
 * With `--copies 100`, PostgreSQL stores every submission a hundred times, all but one without related rows: ten million
 * of them with `--sizes 100000`. `--partitions 8` divides their table by a hash of the organisation.
 *
 * One engine after the other, so that no more is on the disk at once than its databases: about 10 GB at these sizes.
 */
import { chmodSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { startPostgres } from "../test/support/database/postgres-server.ts";
import { cases } from "./scale/cases.ts";
import { type EngineName, engineNames, fill } from "./scale/fill.ts";
import { type Measured, measure, quantile, type Results } from "./scale/measure.ts";
import { openSubject, type Subject } from "./scale/subject.ts";
import { readFiles } from "./scale/warmth.ts";

const { values: options } = parseArgs({
  options: {
    sizes: { type: "string", default: "10000,100000,1000000" },
    engines: { type: "string", default: engineNames.join() },
    directory: { type: "string", default: join(tmpdir(), "scale") },
    rounds: { type: "string", default: "12" },
    copies: { type: "string", default: "1" },
    partitions: { type: "string", default: "0" },
  },
});
const sizes = options.sizes.split(",").map(Number);
const engines = engineNames.filter((name) => options.engines.split(",").includes(name));
const effort = { rounds: Number(options.rounds), callsPerRound: 10 };
const fillOptions = { copies: Number(options.copies), partitions: Number(options.partitions) };
const allowedGrowth = 2;

mkdirSync(options.directory, { recursive: true, mode: 0o755 });
const grown: string[] = [];
for (const engine of engines) {
  const results = await examine(engine);
  report(engine, results);
  grown.push(...grownOf(results).map((label) => `${engine}: ${label}`));
}
for (const label of grown) console.log(`More than ${allowedGrowth} times as much at the largest size: ${label}`);
// Explicit, because the package that runs PostgreSQL exits with 0 whatever `process.exitCode` is.
process.exit(grown.length > 0 ? 1 : 0);

async function examine(engine: EngineName): Promise<Results> {
  const place = await openPlace(engine);
  const subjects: Subject[] = [];
  try {
    for (const size of sizes) {
      const startedMs = performance.now();
      const database = await place.make(size);
      const { landmarks, rows, sizeBytes } = await fill(engine, database, size, fillOptions);
      const seconds = ((performance.now() - startedMs) / 1000).toFixed(0);
      const [submissions, all] = [size * fillOptions.copies, rows].map((count) => count.toLocaleString("en-US"));
      const megabytes = Math.round(sizeBytes / 1e6);
      console.log(`${engine}: ${submissions} submissions, ${all} rows, ${megabytes} MB, filled in ${seconds} s`);
      subjects.push(await openSubject(database, size, landmarks, options.directory));
    }
    await readFiles(place.directory);
    return await measure(subjects, effort, grownOf);
  } finally {
    for (const subject of subjects) await subject.close();
    await place.remove();
  }
}

/** Opens a place for an engine's databases. A server keeps its own as in production, except for the place. */
async function openPlace(engine: EngineName) {
  const directory = mkdtempSync(join(options.directory, "databases-"));
  const removeDirectory = () => rmSync(directory, { recursive: true, force: true });
  if (engine === "SQLite")
    return { directory, make: async (size: number) => join(directory, `${size}.db`), remove: removeDirectory };
  // A server that root starts runs as another user.
  chmodSync(directory, 0o755);
  const { default: pg } = await import("pg");
  const settings = {
    fsync: "on",
    synchronous_commit: "on",
    full_page_writes: "on",
    shared_buffers: "1GB",
    maintenance_work_mem: "512MB",
    max_wal_size: "1GB",
    wal_level: "minimal",
    max_wal_senders: "0",
  };
  const server = await startPostgres({ directory, settings });
  return {
    directory,
    async make(size: number) {
      const client = new pg.Client(server.address);
      await client.connect();
      await client.query(`create database scale_${size}`);
      await client.end();
      return Object.assign(new URL(server.address), { pathname: `/scale_${size}` }).href;
    },
    async remove() {
      await server.stop();
      removeDirectory();
    },
  };
}

function report(engine: EngineName, results: Results): void {
  const reasons = cases.flatMap(({ label, reason }) => (reason === undefined ? [] : [`  ${label}: ${reason}`]));
  const head = sizes.map((size) => `${size.toLocaleString("en-US")}: p50, p99`.padStart(22)).join("");
  console.log(`\n${engine}, milliseconds${" ".repeat(58 - engine.length)}${head}   growth   rows`);
  for (const [label, { kind }] of results.get(sizes[0] as number) ?? []) {
    const own = sizes.map((size) => results.get(size)?.get(label) as Measured);
    const times = own.map(({ timesMs }) => `${show(timesMs, 0.5)}${show(timesMs, 0.99)}`.padStart(22)).join("");
    const rows = [...new Set(own.map((each) => each.rows))].join("/");
    console.log(`  ${label.padEnd(62)}${kind.padEnd(8)}${times}   ${growthOf(own).toFixed(2).padStart(6)}   ${rows}`);
  }
  console.log(["What is looked through:", ...reasons].join("\n"));
}

function show(timesMs: readonly number[], share: number): string {
  return quantile(timesMs, share).toFixed(2).padStart(9);
}

function growthOf(own: readonly Measured[]): number {
  const [first, last] = [own[0], own.at(-1)].map((each) => quantile(each?.timesMs ?? [], 0.5)) as [number, number];
  return last / first;
}

function grownOf(results: Results): string[] {
  const labels = [...(results.get(sizes[0] as number) ?? [])];
  return labels.flatMap(([label, { kind }]) => {
    if (kind === "write" || kind === "scan") return [];
    const own = sizes.map((size) => results.get(size)?.get(label) as Measured);
    return growthOf(own) > allowedGrowth ? [label] : [];
  });
}
