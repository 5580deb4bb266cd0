/** Clients with minimal cost. */
import type { ChildProcess } from "node:child_process";
import { createInterface } from "node:readline";
import { Pool } from "undici";
import { readResponse } from "../../src/upstream/remote/read-response.ts";

export interface RpcClient {
  /** Sends a request. Returns the text of its answer. */
  ask(method: string, params: object): Promise<string>;
  close(): Promise<void>;
}

/** All candidates speak `2025-11-25`. The program alone speaks `2026-07-28`, which has no sessions. */
export type Revision = "2025-11-25" | "2026-07-28";

const clientInfo = { name: "bench", version: "1.0.0" };
const initialize = { protocolVersion: "2025-11-25", capabilities: {}, clientInfo };
/** Stands in each request of 2026-07-28 in place of a handshake. */
const envelope = {
  "io.modelcontextprotocol/protocolVersion": "2026-07-28",
  "io.modelcontextprotocol/clientInfo": clientInfo,
  "io.modelcontextprotocol/clientCapabilities": {},
};

/** Far more than any answer here. */
const receiving = { signal: undefined, timeoutMs: undefined, maxBytes: 100_000_000 };

/** Connects over a process's stdin and stdout. */
export async function connectStdio(child: ChildProcess): Promise<RpcClient> {
  const { stdin, stdout } = child;
  if (!stdin || !stdout) throw new Error("The process has no pipes");
  const waiting = new Map<number, (line: string) => void>();
  let lastId = 0;
  createInterface({ input: stdout }).on("line", (line) => {
    const id = Number(/"id":\s*(\d+)/.exec(line.slice(0, 60) + line.slice(-60))?.[1]);
    waiting.get(id)?.(line);
    waiting.delete(id);
  });
  const client: RpcClient = {
    ask(method, params) {
      lastId += 1;
      const { promise, resolve } = Promise.withResolvers<string>();
      waiting.set(lastId, resolve);
      stdin.write(`${JSON.stringify({ jsonrpc: "2.0", id: lastId, method, params })}\n`);
      return promise;
    },
    async close() {
      child.kill();
    },
  };
  await client.ask("initialize", initialize);
  stdin.write(`${JSON.stringify({ jsonrpc: "2.0", method: "notifications/initialized" })}\n`);
  return client;
}

/** Connects over streamable HTTP, with 2025-11-25 in a session if the server opens one. */
export async function connectHttp(
  address: string,
  token: string,
  connections: number,
  revision: Revision,
): Promise<RpcClient> {
  const { origin, pathname } = new URL(address);
  const pool = new Pool(origin, { connections });
  const headers: Record<string, string> = {
    "content-type": "application/json",
    accept: "application/json, text/event-stream",
    authorization: `Bearer ${token}`,
    "mcp-protocol-version": revision,
  };
  let lastId = 0;
  const post = async (message: object, more: Readonly<Record<string, string>> = {}) => {
    const body = JSON.stringify({ jsonrpc: "2.0", ...message });
    const request = { method: "POST", path: pathname, headers: { ...headers, ...more }, body } as const;
    const answer = await readResponse(pool, request, receiving);
    const text = answer.body.toString("utf8");
    if (answer.status >= 300) throw new Error(`${address} answers ${answer.status}: ${text.slice(0, 200)}`);
    const sessionId = answer.headers["mcp-session-id"];
    if (typeof sessionId === "string") headers["mcp-session-id"] = sessionId;
    return text;
  };
  if (revision === "2025-11-25") {
    await post({ id: "initialize", method: "initialize", params: initialize });
    await post({ method: "notifications/initialized" });
  }
  return {
    ask(method, params) {
      lastId += 1;
      if (revision === "2025-11-25") return post({ id: lastId, method, params });
      const name = "name" in params ? { "mcp-name": String(params.name) } : {};
      return post({ id: lastId, method, params: { ...params, _meta: envelope } }, { "mcp-method": method, ...name });
    },
    close: () => pool.close(),
  };
}
