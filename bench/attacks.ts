/**
 * Measures how one tenant's calls slow down while another tenant, or a stranger, sends more than the limits allow: the
 * median of the victim's REST reads and MCP calls, in both protocol revisions, under each attack and on a quiet
 * server.
 * The server, in its default configuration, the victim and the attacker run in separate processes and communicate over
 * sockets. `node bench/attacks.ts [seconds]`
 */
import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { constants, setPriority, tmpdir } from "node:os";
import { join } from "node:path";
import { Pool } from "undici";
import { issueToken } from "../src/app/access/issue-token.ts";
import { createApp } from "../src/app/app.ts";
import { loadConfig } from "../src/config/load.ts";
import { scopes } from "../src/contract/access/scopes.ts";
import { seedDemo } from "../src/demo/seed.ts";

const secondsPerAttack = Number(process.argv[3] ?? process.argv[2]) || 10;
const attackersInFlight = 16;
/** Interval of each of the victim's kinds of calls, within the rate limit of one token. */
const victimPauseMs = 60;
const wantedRatio = 3;

interface Place {
  readonly origin: string;
  readonly programId: string;
  readonly submissionId: string;
  /** A token for each kind of call and each attack, so that they do not share limits. */
  readonly tokens: readonly string[];
}

interface Sent {
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
}

async function main(): Promise<void> {
  const server = child("server");
  const [place] = (await once(server, "message")) as [Place];
  const waysOf = ways(place);
  await measure(waysOf, place, 3);
  const idle = await measure(waysOf, place, secondsPerAttack);
  report("idle", idle, idle);
  for (const [index, [name, sent]] of Object.entries(attacks(place)).entries()) {
    const attacker = child("attack");
    const { origin } = place;
    attacker.send({ ...sent, origin, localAddress: `127.0.0.${index + 2}` } satisfies Attack);
    await once(attacker, "message");
    const under = await measure(waysOf, place, secondsPerAttack);
    attacker.send({ stop: true });
    const [answers] = (await once(attacker, "message")) as [Record<string, number>];
    report(name, under, idle, answers);
    attacker.kill();
  }
  server.kill();
}

function child(of: string): ChildProcess {
  return fork(new URL(import.meta.url), [of, String(secondsPerAttack)]);
}

async function serve(): Promise<void> {
  const directory = mkdtempSync(join(tmpdir(), "programme-bench-"));
  process.on("exit", () => rmSync(directory, { recursive: true, force: true }));
  process.on("SIGTERM", () => process.exit());
  const app = await createApp(
    loadConfig({ PROGRAMME_DATABASE: join(directory, "bench.db"), PROGRAMME_PORT: "0", PROGRAMME_LOG_LEVEL: "error" }),
  );
  await seedDemo(app.store, app.content, { now: new Date() });
  const [victim, other] = await app.store.listBusinesses();
  const issue = (businessId = "") => issueToken(app.store, { businessId, name: "bench", scopes, expiresAt: null });
  const issued = await Promise.all(
    Array.from({ length: 40 }, (_, index) => issue((index < 3 ? victim : other)?.businessId)),
  );
  const [submission] = await app.store.reader(victim?.businessId ?? "").find("submissions", {}, { limit: 1 });
  const { origin } = await app.listen();
  const { programId = "", submissionId = "" } = submission ?? {};
  process.send?.({ origin, programId, submissionId, tokens: issued.map(({ token }) => token) } satisfies Place);
}

const json = { "content-type": "application/json", accept: "application/json, text/event-stream" };

function mcpHeaders(token: string, revision: "2026-07-28" | "2025-06-18", name: string): Record<string, string> {
  const common = { ...json, authorization: `Bearer ${token}`, "mcp-protocol-version": revision };
  return revision === "2026-07-28" ? { ...common, "mcp-method": "tools/call", "mcp-name": name } : common;
}

const envelope = {
  "io.modelcontextprotocol/protocolVersion": "2026-07-28",
  "io.modelcontextprotocol/clientInfo": { name: "bench", version: "1" },
  "io.modelcontextprotocol/clientCapabilities": {},
};

function callOf(token: string, revision: "2026-07-28" | "2025-06-18", name: string, args: object): Sent {
  const meta = revision === "2026-07-28" ? { _meta: envelope } : {};
  const body = JSON.stringify({
    jsonrpc: "2.0",
    id: 1,
    method: "tools/call",
    params: { name, arguments: args, ...meta },
  });
  return { path: "/mcp", headers: mcpHeaders(token, revision, name), body };
}

/** A request that is sent repeatedly from an address of its own. */
interface Attack extends Sent {
  readonly origin: string;
  readonly localAddress: string;
}

/** Returns the victim's kinds of calls. */
function ways({ programId, submissionId, tokens: [rest = "", modern = "", legacy = ""] }: Place): Record<string, Sent> {
  const path = `/integrations/v1/submissions/${submissionId}`;
  return {
    REST: { path, headers: { authorization: `Bearer ${rest}` } },
    "MCP 2026-07-28": callOf(modern, "2026-07-28", "get_program", { programId }),
    "MCP 2025-06-18": callOf(legacy, "2025-06-18", "get_program", { programId }),
  };
}

function attacks({ submissionId, tokens }: Place): Record<string, Sent> {
  let used = 3;
  const token = () => tokens[used++] ?? "";
  const many = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, index) => [`a${index}`, 1]));
  const bogus = { submissionId, version: 0, reason: "Why", confirmation: "bogus", fields: many(60_000) };
  const within = { submissionId, version: 0, reason: "Why", confirmation: "bogus", fields: many(4_900) };
  const invalid = "0".repeat(64);
  const large = JSON.stringify({ fields: "x".repeat(1024 * 1024 - 100) });
  const list = { jsonrpc: "2.0", id: 1, method: "tools/list" };
  const hello = { protocolVersion: "2025-06-18", capabilities: {}, clientInfo: { name: "bench", version: "1" } };
  const revisions = ["2026-07-28", "2025-06-18"] as const;
  const legacy = (body: unknown): Sent => ({
    path: "/mcp",
    headers: mcpHeaders(token(), "2025-06-18", ""),
    body: JSON.stringify(body),
  });
  return {
    ...Object.fromEntries(
      revisions.flatMap((revision) => [
        [`70,000 unknown arguments, ${revision}`, callOf(token(), revision, "get_program", many(70_000))],
        [`4,900 unknown arguments, ${revision}`, callOf(token(), revision, "get_program", many(4_900))],
        [`bogus confirmation, 60,000 fields, ${revision}`, callOf(token(), revision, "withdraw_submission", bogus)],
        [`bogus confirmation, 4,900 fields, ${revision}`, callOf(token(), revision, "withdraw_submission", within)],
        [`1 MiB with an invalid token, ${revision}`, { ...callOf(invalid, revision, "get_program", {}), body: large }],
      ]),
    ),
    "1 MiB with an invalid token, REST": {
      path: "/integrations/v1/persons",
      headers: { ...json, authorization: `Bearer ${invalid}` },
      body: large,
    },
    "70,000 unknown properties, REST": {
      path: "/integrations/v1/persons",
      headers: { ...json, authorization: `Bearer ${token()}` },
      body: JSON.stringify(many(70_000)),
    },
    "1 MiB of one text, REST": {
      path: "/integrations/v1/persons",
      headers: { ...json, authorization: `Bearer ${token()}` },
      body: large,
    },
    "tools/list": legacy(list),
    initialize: legacy({ ...list, method: "initialize", params: hello }),
    "batches of tools/list": legacy(Array.from({ length: 50 }, () => list)),
  };
}

type Medians = Readonly<Record<string, number>>;

/** Measures the median duration of each kind of call in milliseconds, one call at a time. */
async function measure(of: Record<string, Sent>, { origin }: Place, seconds: number): Promise<Medians> {
  const pool = new Pool(origin, { connections: 4 });
  const endsAtMs = performance.now() + seconds * 1000;
  const timesMs: Record<string, number[]> = Object.fromEntries(Object.keys(of).map((way) => [way, []]));
  while (performance.now() < endsAtMs) {
    for (const [way, sent] of Object.entries(of)) {
      const startedAtMs = performance.now();
      const { statusCode, body } = await pool.request(requestOf(sent));
      const text = await body.text();
      timesMs[way]?.push(performance.now() - startedAtMs);
      if (statusCode !== 200 || text.includes("isError"))
        throw new Error(`The victim was answered ${statusCode} ${text}`);
      await new Promise((resolve) => setTimeout(resolve, victimPauseMs));
    }
  }
  await pool.close();
  return Object.fromEntries(Object.entries(timesMs).map(([way, times]) => [way, median(times)]));
}

function requestOf({ path, headers, body }: Sent) {
  return body === undefined
    ? ({ method: "GET", path, headers } as const)
    : ({ method: "POST", path, headers, body: Buffer.from(body) } as const);
}

/** Runs in a process of its own. Sends one request after the other on each of many connections, until stopped. */
async function attack({ origin, localAddress, ...sent }: Attack): Promise<void> {
  // Low priority, because a real attacker would use another machine.
  setPriority(constants.priority.PRIORITY_LOW);
  const pool = new Pool(origin, { connections: attackersInFlight, localAddress });
  const request = requestOf(sent);
  const answers: Record<string, number> = {};
  let going = true;
  process.removeAllListeners("message");
  process.once("message", () => {
    going = false;
  });
  const runAttack = async () => {
    while (going) {
      const answered = await pool
        .request(request)
        .then(async ({ statusCode, body }) => {
          await body.dump();
          return String(statusCode);
        })
        // A closed connection counts as an answer too.
        .catch((error: NodeJS.ErrnoException) => error.code ?? error.name);
      answers[answered] = (answers[answered] ?? 0) + 1;
    }
  };
  process.send?.("begun");
  await Promise.all(Array.from({ length: attackersInFlight }, runAttack));
  process.send?.(answers);
}

function report(name: string, under: Medians, idle: Medians, answers: Record<string, number> = {}): void {
  const ratios = Object.entries(under).map(([way, ms]) => ({ way, ms, ratio: ms / (idle[way] ?? ms) }));
  const worst = Math.max(...ratios.map(({ ratio }) => ratio));
  const shown = ratios.map(({ way, ms, ratio }) => `${way} ${ms.toFixed(1)} ms ${ratio.toFixed(1)} ×`).join("  ");
  const counts = Object.entries(answers).map(([answer, count]) => `${answer}: ${count}`);
  console.log(`${name.padEnd(50)} ${worst <= wantedRatio ? "ok " : "BAD"}  ${shown}  ${counts.join(", ")}`);
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;
}

const [role] = process.argv.slice(2);
if (role === "server") await serve();
else if (role === "attack") process.on("message", (sent: Attack) => void attack(sent));
else await main();
