import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { setTimeout as delay } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import type { Tool } from "@modelcontextprotocol/server";
import { countTokens } from "gpt-tokenizer/encoding/o200k_base";
import { freePort } from "../../test/support/processes/free-port.ts";
import { readCpuMs, readMemoryMiB } from "../process-usage.ts";
import type { Candidate } from "./candidates.ts";
import { connectHttp, connectStdio, type Revision, type RpcClient } from "./rpc.ts";

/** The measurements of each candidate. Times are medians in milliseconds, memory is resident MiB. */
export interface Figures {
  readonly startMs: number;
  readonly listTokens: number;
  readonly idleMiB: number;
  readonly readMs: number;
  readonly pageMs: number;
  /** Records in a page of 50: as many as fit into the program's result, and all of them in that of others. */
  readonly pageRows: number;
  readonly readsPerSecond: number;
  readonly afterMiB: number;
  /** Undefined for a candidate that cannot serve a client over HTTP. */
  readonly httpReadsPerSecond: number | undefined;
  /** The same of the first calls after the start. */
  readonly firstHttpReadsPerSecond: number | undefined;
  /** The same in revision 2026-07-28, which no peer speaks. */
  readonly newHttpReadsPerSecond: number | undefined;
  /** Processor time that the server's process takes for a read in those calls. */
  readonly httpCpuMs: number | undefined;
  readonly httpAfterMiB: number | undefined;
}

export interface Calls {
  readonly submissionId: string;
  readonly programId: string;
  /** A text that each answer has to contain. */
  readonly title: string;
}

const inFlight = 16;
/** The same time for all. A server that has waited for its turn regains its speed in some tenths of a second. */
const rateTimeMs = 2_000;
const firstCalls = 1_000;
/** Reads by each client before the rounds: V8 needs thousands of calls until all their code is optimised. */
const warmUpReads = 10_000;
const starts = 7;
/** Short rounds in turn, so that other load on the machine affects all candidates alike. */
const rounds = Number(process.env["BENCH_ROUNDS"] ?? 10);
const warmUpRounds = 1;

const children: ChildProcess[] = [];

export async function stopAll(): Promise<void> {
  const running = children.filter(({ exitCode, signalCode }) => exitCode === null && signalCode === null);
  await Promise.all(running.map((child) => child.kill("SIGKILL") && once(child, "close")));
}

function start(args: readonly string[], env: Readonly<Record<string, string>>): ChildProcess {
  const child = spawn(process.execPath, args, {
    env: { PATH: process.env["PATH"], ...env },
    stdio: ["pipe", "pipe", process.env["BENCH_STDERR"] ? "inherit" : "ignore"],
  });
  children.push(child);
  return child;
}

type Startable = Pick<Candidate, "stdio" | "env">;

interface Http {
  readonly pid: number | undefined;
  readonly client: RpcClient;
  /** A client of revision 2026-07-28. Undefined for a peer. */
  readonly newClient: RpcClient | undefined;
}

interface Subject {
  readonly candidate: Candidate;
  readonly stdio: RpcClient;
  readonly stdioPid: number | undefined;
  readonly http: Http | undefined;
  readonly startMs: number[];
  readonly readMs: number[];
  readonly pageMs: number[];
  readonly readsPerSecond: number[];
  readonly httpReadsPerSecond: number[];
  readonly newHttpReadsPerSecond: number[];
  readonly httpCpuMs: number[];
  listTokens: number;
  idleMiB: number;
  pageRows: number;
  afterMiB: number;
  firstHttpReadsPerSecond: number | undefined;
  httpAfterMiB: number | undefined;
}

/** Measures all candidates in turn. A candidate that gives a wrong answer ends the run. */
export async function measure(candidates: readonly Candidate[], bare: Startable, calls: Calls, token: string) {
  const subjects: Subject[] = [];
  for (const candidate of candidates) subjects.push(await open(candidate, await freePort(), token));
  const bareStartMs: number[] = [];
  const clientCpuMs: number[] = [];
  for (let turn = 0; turn < starts; turn += 1) {
    for (const { candidate, startMs } of subjects) startMs.push(await measureStart(candidate));
    bareStartMs.push(await measureStart(bare));
  }
  const floor = await openFloor(subjects, calls);
  const floorRates: number[] = [];
  for (const subject of subjects) await warmUp(subject, calls);
  await makeCalls(floor.read, warmUpReads);
  for (let round = -warmUpRounds; round < rounds; round += 1) {
    const { readsPerSecond } = await measureHttpRate(floor.pid, floor.read);
    if (round >= 0) floorRates.push(readsPerSecond);
    for (const subject of subjects) {
      const figures = await measureRound(subject, calls, round % 2 === 0);
      if (round < 0) continue;
      subject.readMs.push(...figures.readMs);
      subject.pageMs.push(...figures.pageMs);
      subject.pageRows = figures.pageRows;
      subject.readsPerSecond.push(figures.readsPerSecond);
      if (!figures.http) continue;
      subject.httpReadsPerSecond.push(figures.http.readsPerSecond);
      subject.httpCpuMs.push(figures.http.serverCpuMs);
      clientCpuMs.push(figures.http.clientCpuMs);
      if (figures.newHttp) subject.newHttpReadsPerSecond.push(figures.newHttp.readsPerSecond);
    }
  }
  const figures = new Map(subjects.map((subject) => [subject.candidate, summarize(subject)]));
  return {
    figures,
    bareStartMs: findMedian(bareStartMs),
    clientCpuMs: findMean(clientCpuMs),
    floorReadsPerSecond: findMedian(floorRates),
  };
}

async function open(candidate: Candidate, port: number, token: string): Promise<Subject> {
  const stdioChild = start(candidate.stdio, candidate.env);
  const stdio = await connectStdio(stdioChild);
  const list = JSON.parse(await stdio.ask("tools/list", {})) as { result: { tools: readonly Tool[] } };
  const idleMiB = readMemoryMiB(stdioChild.pid);
  const http = candidate.http && (await openHttp(candidate, candidate.http(port), port, token));
  return {
    candidate,
    stdio,
    stdioPid: stdioChild.pid,
    http,
    listTokens: countListTokens(list.result.tools),
    idleMiB,
    pageRows: 0,
    afterMiB: 0,
    firstHttpReadsPerSecond: undefined,
    httpAfterMiB: undefined,
    startMs: [],
    readMs: [],
    pageMs: [],
    readsPerSecond: [],
    httpReadsPerSecond: [],
    newHttpReadsPerSecond: [],
    httpCpuMs: [],
  };
}

/** Counts what hosts send to their models of each tool. */
function countListTokens(tools: readonly Tool[]): number {
  const shown = tools.map(({ name, title, description, inputSchema }) => ({ name, title, description, inputSchema }));
  return countTokens(JSON.stringify(shown));
}

async function openHttp({ name, env, isPeer }: Candidate, args: readonly string[], port: number, token: string) {
  const { pid } = start(args, env);
  const connect = (revision: Revision) => connectHttp(`http://127.0.0.1:${port}/mcp`, token, inFlight, revision);
  const client = await retry(() => connect("2025-11-25"), name);
  return { pid, client, newClient: isPeer ? undefined : await connect("2026-07-28") };
}

/** Starts a server that answers each request over HTTP with the program's answer to a read, and does nothing else. */
async function openFloor([first]: readonly Subject[], { submissionId }: Calls) {
  if (!first?.http) throw new Error("The first candidate has no server over HTTP");
  const read = { name: first.candidate.tools.read, arguments: { submissionId } };
  const text = await first.http.client.ask("tools/call", read);
  const port = await freePort();
  const { pid } = start([fileURLToPath(new URL("floor-server.ts", import.meta.url)), String(port), text], {});
  const connect = () => connectHttp(`http://127.0.0.1:${port}/mcp`, "none", inFlight, "2025-11-25");
  const client = await retry(connect, "The floor");
  return { pid, read: () => client.ask("tools/call", read) };
}

async function retry<R>(work: () => Promise<R>, name: string): Promise<R> {
  for (let tries = 0; tries < 100; tries += 1) {
    const result = await work().catch(() => undefined);
    if (result !== undefined) return result;
    await delay(100);
  }
  throw new Error(`${name} does not answer over HTTP`);
}

/** Measures the time from the start of the process until it has listed its tools. */
async function measureStart({ stdio, env }: Startable): Promise<number> {
  const startedAtMs = performance.now();
  const client = await connectStdio(start(stdio, env));
  await client.ask("tools/list", {});
  const elapsedMs = performance.now() - startedAtMs;
  await client.close();
  return elapsedMs;
}

/** Makes reads until their code is optimised. Measures the first ones over HTTP, and the memory after all of them. */
async function warmUp(subject: Subject, calls: Calls): Promise<void> {
  const { stdio, http } = subject;
  const { read } = createCalls(subject, calls);
  await makeCalls(() => read(stdio), warmUpReads);
  subject.afterMiB = readMemoryMiB(subject.stdioPid);
  if (!http) return;
  const startedAtMs = performance.now();
  await makeCalls(() => read(http.client), firstCalls);
  subject.firstHttpReadsPerSecond = (firstCalls * 1_000) / (performance.now() - startedAtMs);
  await makeCalls(() => read(http.client), warmUpReads - firstCalls);
  subject.httpAfterMiB = readMemoryMiB(http.pid);
  if (http.newClient) await makeCalls(() => read(http.newClient), warmUpReads);
}

/** @param isNewFirst - whether the newer revision has its turn first. The first one after a pause is slower. */
async function measureRound(subject: Subject, calls: Calls, isNewFirst: boolean) {
  const { stdio, http } = subject;
  const { read, page } = createCalls(subject, calls);
  let pageText = "";
  const figures = {
    readMs: await measureTimes(50, () => read(stdio)),
    pageMs: await measureTimes(10, async () => {
      pageText = await page(stdio);
    }),
    pageRows: countRecords(pageText),
    readsPerSecond: (await measureRate(() => read(stdio))).readsPerSecond,
  };
  const measureNew = async () => http?.newClient && (await measureHttpRate(http.pid, () => read(http.newClient)));
  const early = isNewFirst ? await measureNew() : undefined;
  const old = http && (await measureHttpRate(http.pid, () => read(http.client)));
  return { ...figures, http: old, newHttp: early ?? (await measureNew()) };
}

/** Returns the calls that are measured. They throw for a wrong answer. */
function createCalls({ candidate: { name, tools } }: Subject, { submissionId, programId, title }: Calls) {
  const call = async (client: RpcClient | undefined, params: object) => {
    const text = (await client?.ask("tools/call", params)) ?? "";
    if (!text.includes(title)) throw new Error(`${name} answers ${text.slice(0, 500)}`);
    return text;
  };
  return {
    read: (client: RpcClient | undefined) => call(client, { name: tools.read, arguments: { submissionId } }),
    page: (client: RpcClient) => call(client, { name: tools.list, arguments: { programId, limit: 50 } }),
  };
}

/** Measures the rate with the processor time that a call takes in the server and in this process, the client. */
async function measureHttpRate(pid: number | undefined, work: () => Promise<unknown>) {
  const [serverMs, client] = [readCpuMs(pid), process.cpuUsage()];
  const { count, readsPerSecond } = await measureRate(work);
  const { user, system } = process.cpuUsage(client);
  const serverCpuMs = (readCpuMs(pid) - serverMs) / count;
  return { readsPerSecond, serverCpuMs, clientCpuMs: (user + system) / 1_000 / count };
}

/** Counts the records in an answer, which may contain them twice: as text and as data. */
function countRecords(answer: string): number {
  return new Set(answer.replaceAll("\\", "").match(/submissionId":\s*"[^"]+/g)).size;
}

async function measureTimes(count: number, work: () => Promise<unknown>): Promise<number[]> {
  const timesMs: number[] = [];
  for (let index = 0; index < count; index += 1) {
    const startedAtMs = performance.now();
    await work();
    timesMs.push(performance.now() - startedAtMs);
  }
  return timesMs;
}

/** Measures how many calls are answered in a second, with 16 in flight. */
async function measureRate(work: () => Promise<unknown>) {
  let count = 0;
  const startedAtMs = performance.now();
  await keepInFlight(async () => {
    while (performance.now() - startedAtMs < rateTimeMs) {
      await work();
      count += 1;
    }
  });
  return { count, readsPerSecond: (count * 1_000) / (performance.now() - startedAtMs) };
}

async function makeCalls(work: () => Promise<unknown>, count: number): Promise<void> {
  let left = count;
  await keepInFlight(async () => {
    while (left-- > 0) await work();
  });
}

async function keepInFlight(makeCallsInTurn: () => Promise<void>): Promise<void> {
  await Promise.all(Array.from({ length: inFlight }, makeCallsInTurn));
}

function summarize({ http, listTokens, idleMiB, pageRows, afterMiB, ...subject }: Subject): Figures {
  return {
    startMs: findMedian(subject.startMs),
    listTokens,
    idleMiB,
    readMs: findMedian(subject.readMs),
    pageMs: findMedian(subject.pageMs),
    pageRows,
    readsPerSecond: findMedian(subject.readsPerSecond),
    afterMiB,
    httpReadsPerSecond: http && findMedian(subject.httpReadsPerSecond),
    firstHttpReadsPerSecond: subject.firstHttpReadsPerSecond,
    newHttpReadsPerSecond: http?.newClient && findMedian(subject.newHttpReadsPerSecond),
    httpCpuMs: http && findMean(subject.httpCpuMs),
    httpAfterMiB: subject.httpAfterMiB,
  };
}

function findMedian(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;
}

function findMean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}
