/**
 * Clients with minimal cost, so that the server is measured: they send prepared messages, and read only the status and
 * id of responses.
 */
import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { Pool } from "undici";
import { callOf, initialize, initialized, path, type Revision, token } from "./case.ts";

/** Durations of `count` sequential calls, in milliseconds. */
export type Sequence = (count: number) => Promise<readonly number[]>;

/** Connects over a process's stdin and stdout. */
export async function stdioClient(child: ChildProcess, revision: Revision): Promise<Sequence> {
  let waiting: ((line: string) => void) | undefined;
  let pending = "";
  child.stdout?.setEncoding("utf8").on("data", (chunk: string) => {
    pending += chunk;
    for (let end = pending.indexOf("\n"); end >= 0; end = pending.indexOf("\n")) {
      const line = pending.slice(0, end);
      pending = pending.slice(end + 1);
      if (line.includes('"id":')) waiting?.(line);
    }
  });
  const ask = (message: string) =>
    new Promise<string>((resolve) => {
      waiting = resolve;
      child.stdin?.write(message);
    });
  if (revision === "2025-11-25") {
    await ask(`${JSON.stringify(initialize)}\n`);
    child.stdin?.write(`${JSON.stringify(initialized)}\n`);
  }
  const message = `${JSON.stringify(callOf(revision, 7))}\n`;
  assertAnswered(await ask(message));
  return async (count) => {
    const timesMs: number[] = [];
    for (let call = 0; call < count; call += 1) {
      const startedAtMs = performance.now();
      await ask(message);
      timesMs.push(performance.now() - startedAtMs);
    }
    return timesMs;
  };
}

export interface Load {
  readonly perSecond: number;
}

/** Makes as many calls as are answered in the time, with `inFlight` at once. */
export type Flood = (seconds: number, inFlight: number) => Promise<Load>;

/** Calls the upstream itself, without MCP. */
export function plainClient(origin: string): Flood {
  const headers = { authorization: `Bearer ${token}` };
  return flood(origin, () => ({ method: "GET", path, headers }));
}

/** Connects a client of one revision over HTTP; one of 2025-11-25 in a session, if the server opens one. */
export async function httpClient(origin: string, revision: Revision, endpoint: string): Promise<Flood> {
  const common = {
    "content-type": "application/json",
    accept: "application/json, text/event-stream",
    authorization: `Bearer ${token}`,
    "mcp-protocol-version": revision,
  };
  const headers =
    revision === "2026-07-28"
      ? { ...common, "mcp-method": "tools/call", "mcp-name": callOf(revision, 1).params.name }
      : { ...common, ...(await sessionHeaders(origin, endpoint, common)) };
  // The ids distinguish calls in flight within a session.
  const [before = "", after = ""] = JSON.stringify(callOf(revision, 7)).split('"id":7');
  let id = 0;
  const next = () => ({ method: "POST" as const, path: endpoint, headers, body: `${before}"id":${++id}${after}` });
  const probe = new Pool(origin);
  const answer = await probe.request(next());
  assertAnswered(await answer.body.text());
  await probe.close();
  return flood(origin, next);
}

async function sessionHeaders(origin: string, endpoint: string, headers: Record<string, string>) {
  const pool = new Pool(origin);
  const post = async (message: object, more: Record<string, string>) => {
    const body = JSON.stringify(message);
    const answer = await pool.request({ method: "POST", path: endpoint, headers: { ...headers, ...more }, body });
    await answer.body.dump();
    return answer.headers["mcp-session-id"];
  };
  const sessionId = await post(initialize, {});
  const session: Record<string, string> = typeof sessionId === "string" ? { "mcp-session-id": sessionId } : {};
  await post(initialized, session);
  await pool.close();
  return session;
}

type PoolRequest = Parameters<Pool["request"]>[0];

function flood(origin: string, next: () => PoolRequest): Flood {
  return async (seconds, inFlight) => {
    const pool = new Pool(origin, { connections: inFlight });
    const startedAtMs = performance.now();
    const endsAtMs = startedAtMs + seconds * 1000;
    let answered = 0;
    const runCalls = async () => {
      while (performance.now() < endsAtMs) {
        const { statusCode, body } = await pool.request(next());
        await body.dump();
        if (statusCode !== 200) throw new Error(`Answered ${statusCode}`);
        answered += 1;
      }
    };
    await Promise.all(Array.from({ length: inFlight }, runCalls));
    const elapsedSeconds = (performance.now() - startedAtMs) / 1000;
    await pool.close();
    return { perSecond: answered / elapsedSeconds };
  };
}

function assertAnswered(text: string): void {
  if (!text.includes("Street trees") || text.includes('"isError":true')) throw new Error(`No answer: ${text}`);
}

export async function portOf(child: ChildProcess): Promise<number> {
  const [port] = await once(child, "message");
  return port as number;
}
