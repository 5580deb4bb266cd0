import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { pino } from "pino";
import { onTestFinished } from "vitest";
import type { App } from "../../../src/app/app.ts";
import type { GatewayEntry } from "../../../src/contract/access/gateway-keys.ts";
import { type Scope, scopes } from "../../../src/contract/access/scopes.ts";
import { createRandomToken, hashSha256Hex } from "../../../src/lib/crypto/crypto.ts";
import type { Log } from "../../../src/lib/log.ts";
import type { ToolResult } from "../clients/clients.ts";
import { type RawAnswer, send } from "../clients/raw-http.ts";
import { temporaryDirectory } from "../processes/directory.ts";
import { openRemote } from "./remote-server.ts";
import { openTestServer, type TestServer } from "./test-server.ts";

/** Where the tools of a gateway work: in its own process, or on a service behind it. */
export type Behind = "embedded" | "remote";

/** MCP over HTTP for callers without product tokens, and the service behind it. */
export interface Gateway {
  /** The service, at the address where its MCP is called: the gateway's. */
  readonly server: TestServer;
  /** The program whose MCP it is: the service itself, or one in front of it. */
  readonly app: App;
  readonly file: string;
  readonly directory: string;
  /** Every line that was logged, unmasked. */
  readonly log: string[];
  /** Writes the file of keys with these entries alone; counts at once. */
  admit(...entries: Partial<GatewayEntry>[]): Promise<void>;
  /** Writes a product token to a file. Returns the file's name. */
  keep(token: string): Promise<string>;
  /** An entry of a new key for a product token of the portal. */
  caller(name: string, options?: CallerOptions): Promise<{ readonly key: string; readonly entry: GatewayEntry }>;
}

interface CallerOptions {
  readonly token?: string;
  readonly scopes?: Scope[];
  readonly expiresAt?: string;
}

/** Opens a gateway whose file names nobody yet. It ends with the test. */
export async function openGateway(behind: Behind, environment: Record<string, string> = {}): Promise<Gateway> {
  const directory = await temporaryDirectory();
  onTestFinished(() => directory.remove());
  const file = join(directory.path, "keys.json");
  await writeFile(file, "[]", { mode: 0o600 });
  const lines: string[] = [];
  const log = pino({ level: "trace" }, { write: (line: string) => void lines.push(line) });
  const own = { PROGRAMME_GATEWAY_KEYS: file, ...environment };
  const { server: service, close } = await openTestServer(behind === "embedded" ? own : {}, { log });
  onTestFinished(close);
  const front = behind === "embedded" ? undefined : await openFront(service, own, log);
  const app = front?.app ?? service.app;
  const keep: Gateway["keep"] = async (token) => {
    const name = `token-${hashSha256Hex(token).slice(0, 12)}`;
    await writeFile(join(directory.path, name), `${token}\n`, { mode: 0o600 });
    return name;
  };
  return {
    server: { ...service, origin: front?.origin ?? service.origin },
    app,
    file,
    directory: directory.path,
    log: lines,
    keep,
    async admit(...entries) {
      await writeFile(file, JSON.stringify(entries));
      app.reloadKeys();
    },
    async caller(name, { token, ...given } = {}) {
      const key = `gwk_${createRandomToken()}`;
      const tokenFile = await keep(token ?? (await service.token()));
      return { key, entry: { name, sha256: hashSha256Hex(key), tokenFile, ...given } };
    },
  };
}

async function openFront({ origin, clock }: TestServer, environment: Record<string, string>, log: Log) {
  const app = await openRemote(origin, environment, { clock, log });
  onTestFinished(() => app.close());
  return { app, origin: (await app.listen()).origin };
}

/** One JSON-RPC request as 2025-era clients without a session send it. */
export function postMcp(
  { origin }: { readonly origin: string },
  token: string | undefined,
  message: unknown,
  headers: Record<string, string> = {},
): Promise<RawAnswer> {
  const authorization = token === undefined ? {} : { authorization: `Bearer ${token}` };
  const accept = "application/json, text/event-stream";
  const all = { "content-type": "application/json", accept, ...authorization, ...headers };
  return send(`${origin}/mcp`, { method: "POST", headers: all }, JSON.stringify(message));
}

export const listTools = { jsonrpc: "2.0", id: 1, method: "tools/list" };

export const initialize = {
  jsonrpc: "2.0",
  id: 1,
  method: "initialize",
  params: { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "test", version: "1" } },
};

/** Opens a session of a 2025-era client: the header that its requests bring. */
export async function openSession(at: { readonly origin: string }, token: string) {
  const opened = await postMcp(at, token, initialize);
  return { "mcp-session-id": opened.headers.get("mcp-session-id") ?? "" };
}

export function callTool(name: string, args: object, { id = 1, meta }: { id?: number; meta?: object } = {}) {
  const params = { name, arguments: args, ...(meta ? { _meta: meta } : {}) };
  return { jsonrpc: "2.0", id, method: "tools/call", params };
}

/** The message of an answer, which may come as an event. */
export function readMessage({ text }: RawAnswer) {
  return JSON.parse(text.startsWith("{") ? text : (/^data: (.*)$/m.exec(text)?.[1] ?? "null"));
}

/** The answer of a tool call. */
export async function readCalled(
  at: { readonly origin: string },
  token: string,
  name: string,
  args: object,
  options: Parameters<typeof callTool>[2] = {},
): Promise<ToolResult> {
  return readMessage(await postMcp(at, token, callTool(name, args, options))).result;
}

/** The tools that a caller is shown. */
export async function toolNames(at: { readonly origin: string }, token: string): Promise<string[]> {
  const { result } = readMessage(await postMcp(at, token, listTools));
  return result.tools.map(({ name }: { name: string }) => name);
}

/** Every scope but some. */
export function scopesWithout(...left: readonly Scope[]): Scope[] {
  return scopes.filter((scope) => !left.includes(scope));
}
