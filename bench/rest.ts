/**
 * A point read over REST beside the same read on bare `node:http` with the same SQLite statement, in one run.
 * Prints requests per second of both lanes, round by round, and the ratio of their medians.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { fork } from "node:child_process";
import { Pool } from "undici";
import { createApp } from "../src/app.ts";
import { issueToken } from "../src/commands/tokens.ts";
import { loadConfig } from "../src/config/load.ts";
import { scopes } from "../src/contract/scopes.ts";
import { seedDemo } from "../src/demo/seed.ts";

const rounds = 7;
const secondsPerRound = 2;
const inFlight = 16;

interface Target {
  readonly origin: string;
  readonly path: string;
  readonly token?: string;
}

if (process.argv[2] === "load") process.on("message", (target: Target) => void load(target));
else await main();

async function main(): Promise<void> {
  const directory = mkdtempSync(join(tmpdir(), "programme-bench-"));
  const database = join(directory, "bench.db");
  try {
    await compare(database);
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

async function compare(database: string): Promise<void> {
  const config = loadConfig({
    PROGRAMME_DATABASE: database,
    PROGRAMME_PORT: "0",
    PROGRAMME_REQUESTS_PER_MINUTE: "1000000",
    PROGRAMME_LOG_LEVEL: "warn",
  });
  const app = await createApp(config);
  await seedDemo(app.store, app.content, { now: new Date() });
  const [business] = await app.store.listBusinesses();
  const businessId = business?.businessId ?? "";
  const [submission] = await app.store.reader(businessId).find("submissions", {}, { limit: 1 });
  const submissionId = submission?.submissionId ?? "";
  const { token } = await issueToken(app.store, { businessId, name: "bench", scopes, expiresAt: null });
  const server = await app.listen();
  const bare = await bareServer(database, businessId, submissionId);

  const generator = fork(new URL(import.meta.url), ["load"]);
  const lanes: Record<string, Target> = {
    bare: { origin: bare.origin, path: "/" },
    rest: { origin: server.origin, path: `/integrations/v1/submissions/${submissionId}`, token },
  };
  const rates: Record<string, number[]> = { bare: [], rest: [] };
  // Interleaved, so that whatever else the machine does hits both lanes alike; the first round warms up.
  for (let round = 0; round <= rounds; round += 1) {
    for (const [lane, target] of Object.entries(lanes)) {
      const rate = await measure(generator, target);
      if (round > 0) rates[lane]?.push(rate);
    }
  }
  generator.kill();
  bare.close();
  await server.close();
  await app.close();
  report(rates["bare"] ?? [], rates["rest"] ?? []);
}

/** The floor: the same row by the same statement, parsed and sent as JSON, with nothing checked. */
async function bareServer(database: string, businessId: string, submissionId: string) {
  const db = new DatabaseSync(database, { readOnly: true });
  const statement = db.prepare('select * from "submissions" where "businessId" = ? and "submissionId" = ?');
  const server = createServer((_, response) => {
    const data = statement.get(businessId, submissionId);
    response.writeHead(200, { "content-type": "application/json" });
    response.end(JSON.stringify({ success: true, data }));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    origin: `http://127.0.0.1:${port}`,
    close: () => {
      server.close();
      db.close();
    },
  };
}

function measure(generator: ReturnType<typeof fork>, target: Target): Promise<number> {
  return new Promise((resolve) => {
    generator.once("message", (rate) => resolve(Number(rate)));
    generator.send(target);
  });
}

/** In a process of its own: as many requests as are answered while the time lasts. */
async function load({ origin, path, token }: Target): Promise<void> {
  const pool = new Pool(origin, { connections: inFlight });
  const headers = token === undefined ? {} : { authorization: `Bearer ${token}` };
  const startedAtMs = performance.now();
  const endsAtMs = startedAtMs + secondsPerRound * 1000;
  let answered = 0;
  const worker = async () => {
    while (performance.now() < endsAtMs) {
      const { statusCode, body } = await pool.request({ method: "GET", path, headers });
      await body.dump();
      if (statusCode !== 200) throw new Error(`Answered ${statusCode}`);
      answered += 1;
    }
  };
  await Promise.all(Array.from({ length: inFlight }, worker));
  await pool.close();
  process.send?.(answered / ((performance.now() - startedAtMs) / 1000));
}

function report(bare: readonly number[], rest: readonly number[]): void {
  for (const [round, rate] of bare.entries()) {
    console.log(`round ${round + 1}: bare ${rate.toFixed(0)}/s, rest ${(rest[round] ?? 0).toFixed(0)}/s`);
  }
  const ratio = median(rest) / median(bare);
  console.log(`median: bare ${median(bare).toFixed(0)}/s, rest ${median(rest).toFixed(0)}/s`);
  console.log(`ratio: ${ratio.toFixed(2)} (wanted: at least 0.60)`);
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;
}
