/**
 * `npm run soak [minutes]`: runs the program for 30 minutes with 100 clients of both protocol revisions over HTTP and
 * stdio, webhooks to local receivers, and the console open in a browser. Prints progress, and writes
 * `bench/results/soak.json` and `docs/soak.md`, also when it is interrupted. Exits with 1 if a criterion is not met.
 * `--clients 100` and `--no-browser` make it smaller. Needs Linux.
 */
import { type ChildProcess, execFileSync, fork } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { constants, loadavg, setPriority, tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { issueToken } from "../src/app/access/issue-token.ts";
import { createApp } from "../src/app/app.ts";
import { loadConfig } from "../src/config/load.ts";
import { scopes } from "../src/contract/access/scopes.ts";
import { seedDemo } from "../src/demo/seed.ts";
import { freePort } from "../test/support/processes/free-port.ts";
import { describeMachine } from "./machine.ts";
import { bareKind, type Records } from "./soak/actions.ts";
import type { CallReport, ClientPlan, ClientsMessage, ClientsStart } from "./soak/clients.ts";
import { type OpenConsole, openConsole } from "./soak/console.ts";
import { writePage } from "./soak/page.ts";
import { checkCriteria, countErrors, type SoakResults, selectWarm, summarizeCalls } from "./soak/results.ts";
import { type Sample, type SoakServer, startServer } from "./soak/server.ts";

const { values: options, positionals } = parseArgs({
  allowPositionals: true,
  allowNegative: true,
  options: { clients: { type: "string", default: "100" }, browser: { type: "boolean", default: true } },
});
const minutes = Number(positionals[0] ?? 30);
const clientCount = Number(options.clients);
/** One client in so many is a process over stdio. */
const stdioEvery = 25;
/** The calls of one client over HTTP in so many, and of those over stdio, are timed. */
const timedEvery = 7;
const sampleEverySeconds = Math.max(10, Math.min(30, minutes * 2));
const warmUpSeconds = 30;
const maxDrainSeconds = 180;

const program = fileURLToPath(new URL("../dist/main.js", import.meta.url));
const directory = mkdtempSync(join(tmpdir(), "programme-soak-"));
const environment = {
  HOME: directory,
  PROGRAMME_DATA_DIR: directory,
  PROGRAMME_DATABASE: join(directory, "soak.db"),
  PROGRAMME_WEBHOOK_LOOPBACK: "true",
  PROGRAMME_LOG_LEVEL: "error",
};

const interrupted = new AbortController();
process.once("SIGINT", () => interrupted.abort());
process.once("SIGTERM", () => interrupted.abort());

const [otherLoad = 0] = loadavg();
const reports: CallReport[] = [];
const timedReports: CallReport[] = [];
const bareReports: CallReport[] = [];
const samples: Sample[] = [];
let notifications = 0;
let deliveries = 0;

const plans = await seed();
const receivers = [startReceiver(0), startReceiver(0.05)];
for (const receiver of receivers) await register(receiver);
const server = await startServer(program, environment);
const barePort = await freePort();
const bareServer = fork(new URL("peers/floor-server.ts", import.meta.url), [String(barePort), '{"jsonrpc":"2.0"}']);
let openedConsole: OpenConsole | undefined;
try {
  await soak();
} finally {
  await openedConsole?.close();
  await server.stop();
  bareServer.kill();
  for (const receiver of receivers) receiver.close();
  rmSync(directory, { recursive: true, force: true });
}
const results = summarize();
writeResults(results);
console.table(results.calls);
console.table(results.criteria);
console.log("Errors of clients:", results.errors);
process.exit(results.criteria.every(({ isMet }) => isMet) ? 0 : 1);

async function soak(): Promise<void> {
  // Those that are timed have a process of their own: a notification to 100 clients keeps a process with all of them busy.
  const isTimed = ({ via }: ClientPlan, index: number) => "program" in via || index % timedEvery === 0;
  const timed = await startClients(plans.filter(isTimed), server, true);
  // The others and a person's browser run on other machines, and take no time from the service. Processes inherit this.
  setPriority(constants.priority.PRIORITY_LOW);
  const others = await startClients(
    plans.filter((plan, index) => !isTimed(plan, index)),
    server,
    false,
  );
  if (options.browser) openedConsole = await openConsole(server.ownerLink);
  await observe(server);
  for (const clients of [timed, others]) {
    clients.send("stop");
    if (clients.connected) await once(clients, "disconnect");
  }
  await openedConsole?.close();
  await drain(server);
}

/** Fills the database, and plans a client with a token of its own for each connection. */
async function seed(): Promise<ClientPlan[]> {
  const app = await createApp(loadConfig(environment));
  await seedDemo(app.store, app.content, { now: new Date() });
  const organizations: { businessId: string; records: Records }[] = [];
  for (const { businessId } of await app.store.listBusinesses()) {
    const reader = app.store.reader(businessId);
    const [program_] = await reader.find("programs", { where: { lifecycleStatus: "underway" } }, { limit: 1 });
    const programId = program_?.programId ?? "";
    const [track] = await reader.find("tracks", { where: { programId } }, { limit: 1 });
    const submissions = await reader.find("submissions", { where: { programId } }, { limit: 100 });
    const persons = await reader.find("persons", { where: { active: true } }, { limit: 100 });
    organizations.push({
      businessId,
      records: {
        programId,
        trackId: track?.trackId ?? "",
        submissionIds: submissions.map(({ submissionId }) => submissionId),
        personIds: persons.map(({ personId }) => personId),
      },
    });
  }
  const planned: ClientPlan[] = [];
  for (let index = 0; index < clientCount; index += 1) {
    const { businessId, records } = organizations[index % organizations.length] as (typeof organizations)[number];
    const { token } = await issueToken(app.store, { businessId, name: `Soak ${index}`, scopes, expiresAt: null });
    const isStdio = index % stdioEvery === stdioEvery - 1;
    planned.push({
      token,
      records,
      revision: Math.floor(index / 2) % 2 === 0 ? "2025-11-25" : "2026-07-28",
      // The service has not started, and its origin is not known.
      via: isStdio ? { program, env: environment } : { origin: "" },
      asks: Math.floor(index / 4) % 2 === 0,
    });
  }
  await app.close();
  return planned;
}

/** Starts a receiver of webhooks that fails in this share of requests. */
function startReceiver(failing: number) {
  const receiver = createServer((request, response) => {
    request.resume().on("end", () => {
      deliveries += 1;
      response.writeHead(Math.random() < failing ? 500 : 204).end();
    });
  });
  return receiver.listen(0, "127.0.0.1");
}

async function register(receiver: ReturnType<typeof startReceiver>): Promise<void> {
  if (!receiver.listening) await once(receiver, "listening");
  const { port } = receiver.address() as AddressInfo;
  const app = await createApp(loadConfig(environment));
  const businesses = await app.store.listBusinesses();
  await app.close();
  for (const { businessId } of businesses) {
    const args = [program, "webhook", "add", `http://127.0.0.1:${port}/${businessId}`, "--business", businessId];
    execFileSync(process.execPath, args, { env: { PATH: process.env["PATH"], ...environment }, stdio: "ignore" });
  }
}

async function startClients(
  own: readonly ClientPlan[],
  { origin }: SoakServer,
  areTimed: boolean,
): Promise<ChildProcess> {
  const child = fork(new URL("soak/clients.ts", import.meta.url));
  const connected = Promise.withResolvers<void>();
  child.on("message", (message: ClientsMessage) => {
    if ("connected" in message) return connected.resolve();
    if ("ended" in message) return;
    const sent = message.calls.filter(({ kind }) => kind !== bareKind);
    bareReports.push(...message.calls.filter(({ kind }) => kind === bareKind));
    reports.push(...sent);
    if (areTimed) timedReports.push(...sent);
    notifications += message.updates;
  });
  child.once("exit", (code) => connected.reject(new Error(`The clients ended with ${code}`)));
  const served = own.map((plan) => ("origin" in plan.via ? { ...plan, via: { origin } } : plan));
  const bareOrigin = areTimed ? `http://127.0.0.1:${barePort}` : undefined;
  child.send({ plans: served, bareOrigin } satisfies ClientsStart);
  await connected.promise;
  console.log(`${own.length} clients are connected.`);
  return child;
}

/** Takes samples until the time is over. */
async function observe({ sample }: SoakServer): Promise<void> {
  const startedAtMs = performance.now();
  const getSeconds = () => (performance.now() - startedAtMs) / 1_000;
  while (getSeconds() < minutes * 60 && !interrupted.signal.aborted) {
    await delay(sampleEverySeconds * 1_000, undefined, { signal: interrupted.signal }).catch(() => undefined);
    const taken = await sample(getSeconds());
    samples.push(taken);
    const { rssMiB, heapMiB, mainThreadPercent, waitedPercent, eventLoopLagMs, queued, descriptors } = taken;
    const errors = Object.entries(countErrors(reports)).map(([code, count]) => `${code} ${count}`);
    console.log(
      `${(taken.atSeconds / 60).toFixed(1)} min: ${reports.length} calls, RSS ${rssMiB.toFixed(0)} MiB, heap ${heapMiB.toFixed(0)} MiB, runs ${mainThreadPercent.toFixed(0)} % and waits ${waitedPercent.toFixed(0)} % of the time, lag ${eventLoopLagMs.toFixed(0)} ms, ${descriptors} descriptors, ${queued} due; ${errors.join(", ")}`,
    );
  }
}

/** Waits until the queues are empty, and takes the last sample. */
async function drain({ sample }: SoakServer): Promise<void> {
  const endSeconds = (samples.at(-1)?.atSeconds ?? 0) + maxDrainSeconds;
  for (let atSeconds = (samples.at(-1)?.atSeconds ?? 0) + 5; ; atSeconds += 5) {
    await delay(5_000);
    const taken = await sample(atSeconds);
    if (taken.queued > 0 && atSeconds < endSeconds) continue;
    samples.push(taken);
    return;
  }
}

function summarize(): SoakResults {
  const calls = summarizeCalls(selectWarm(timedReports, warmUpSeconds));
  const errors = countErrors(reports);
  return {
    measuredAt: new Date().toISOString().slice(0, 10),
    node: process.version,
    machine: describeMachine(),
    otherLoad,
    warmUpSeconds,
    minutes: Math.round((samples.at(-1)?.atSeconds ?? 0) / 60),
    clients: plans.length,
    sentCalls: reports.length,
    calls,
    bare: summarizeCalls(selectWarm(bareReports, warmUpSeconds))[0],
    errors,
    notifications,
    deliveries,
    consolePages: openedConsole?.pages() ?? 0,
    samples,
    criteria: checkCriteria(samples, calls, errors, openedConsole?.errors ?? []),
  };
}

function writeResults(results: SoakResults): void {
  const folder = new URL("results/", import.meta.url);
  mkdirSync(folder, { recursive: true });
  writeFileSync(new URL("soak.json", folder), `${JSON.stringify(results, null, 2)}\n`);
  writePage(results);
}
