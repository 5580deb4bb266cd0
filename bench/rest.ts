/**
 * Compares a point read over REST with the same read on bare `node:http` with the same SQLite statement, in one run.
 * Prints requests per second of both by round, and the ratio of their medians.
 */
import { fork } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { isDeepStrictEqual } from "node:util";
import { Pool, request } from "undici";
import { issueToken } from "../src/app/access/issue-token.ts";
import { createApp } from "../src/app/app.ts";
import { loadConfig } from "../src/config/load.ts";
import { scopes } from "../src/contract/access/scopes.ts";
import { seedDemo } from "../src/demo/seed.ts";

const rounds = 15;
/** Rounds that are not counted, because a server compiles its code in the first seconds. */
const warmUps = 6;
const secondsPerRound = 1;
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
  const candidates: Record<string, Target> = {
    bare: { origin: bare.origin, path: "/" },
    rest: { origin: server.origin, path: `/integrations/v1/submissions/${submissionId}`, token },
  };
  const [bareAnswer, restAnswer] = await Promise.all(Object.values(candidates).map(answerOf));
  if (!isDeepStrictEqual(bareAnswer, restAnswer)) throw new Error("The lanes answer differently");
  const results: Record<string, Round[]> = { bare: [], rest: [] };
  // Interleaved, so that other load affects both alike.
  for (let round = -warmUps; round < rounds; round += 1) {
    for (const [candidate, target] of Object.entries(candidates)) {
      const result = await measure(generator, target, () => app.pipeline.flush());
      if (round >= 0) results[candidate]?.push(result);
    }
  }
  generator.kill();
  bare.close();
  await server.close();
  await app.close();
  report(results["bare"] ?? [], results["rest"] ?? []);
}

/** Serves the same row by the same statement, parsed and sent as JSON, without any checks. */
async function bareServer(database: string, businessId: string, submissionId: string) {
  const db = new DatabaseSync(database, { readOnly: true });
  const statement = db.prepare('select * from "submissions" where "businessId" = ? and "submissionId" = ?');
  const server = createServer((_, response) => {
    const row = statement.get(businessId, submissionId) as Readonly<Record<string, unknown>>;
    const data = { ...row, eligible: row["eligible"] === null ? null : row["eligible"] === 1 } as Record<
      string,
      unknown
    >;
    for (const name of ["fields", "fileIds"]) data[name] = JSON.parse(row[name] as string);
    const body = JSON.stringify({ success: true, data });
    response.writeHead(200, { "content-type": "application/json", "content-length": Buffer.byteLength(body) });
    response.end(body);
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

interface Round {
  readonly perSecond: number;
  /** CPU time per request, including later writes. */
  readonly cpuUs: number;
}

async function measure(generator: ReturnType<typeof fork>, target: Target, flush: () => Promise<void>): Promise<Round> {
  const before = process.cpuUsage();
  generator.send(target);
  const [{ answered, seconds }] = await once(generator, "message");
  await flush();
  const { user, system } = process.cpuUsage(before);
  return { perSecond: answered / seconds, cpuUs: (user + system) / answered };
}

async function answerOf({ origin, path, token }: Target): Promise<unknown> {
  const headers = token === undefined ? {} : { authorization: `Bearer ${token}` };
  const { body } = await request(`${origin}${path}`, { headers });
  return body.json();
}

/** Runs in a process of its own. Sends as many requests as are answered in the time. */
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
  process.send?.({ answered, seconds: (performance.now() - startedAtMs) / 1000 });
}

function report(bare: readonly Round[], rest: readonly Round[]): void {
  for (const [round, of] of bare.entries()) {
    console.log(`round ${round + 1}: bare ${line(of)}, rest ${line(rest[round] ?? of)}`);
  }
  const [bareMedian, restMedian] = [medians(bare), medians(rest)];
  console.log(`median: bare ${line(bareMedian)}, rest ${line(restMedian)}`);
  console.log(`ratio: ${(restMedian.perSecond / bareMedian.perSecond).toFixed(2)} (wanted: at least 0.60)`);
}

function line({ perSecond, cpuUs }: Round): string {
  return `${perSecond.toFixed(0)}/s (${cpuUs.toFixed(0)} µs CPU)`;
}

function medians(results: readonly Round[]): Round {
  return {
    perSecond: median(results.map(({ perSecond }) => perSecond)),
    cpuUs: median(results.map(({ cpuUs }) => cpuUs)),
  };
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;
}
