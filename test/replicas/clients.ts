import { randomUUID } from "node:crypto";
import { setTimeout as delay } from "node:timers/promises";
import type { OperationName } from "../../src/contract/index.ts";
import { type RawAnswer, rest } from "../support/clients/raw-http.ts";

export type Args = Readonly<Record<string, unknown>>;
export type Revision = "2025-06-18" | "2026-07-28";

/** Clients that run until `stop`, which also reports their errors. */
export class Crowd {
  readonly #clients: Promise<void>[] = [];
  #stopping = false;

  /** Repeats the work of one client, with a pause in between. */
  let(work: () => Promise<unknown>, restMs: number): void {
    const client = this.#run(work, restMs);
    client.catch(() => undefined);
    this.#clients.push(client);
  }

  async #run(work: () => Promise<unknown>, restMs: number): Promise<void> {
    while (!this.#stopping) {
      await work();
      await delay(restMs * (0.5 + Math.random()));
    }
  }

  async stop(): Promise<void> {
    this.#stopping = true;
    await Promise.all(this.#clients);
  }
}

/** Counts requests by status; 0 stands for no answer. */
export class Tally {
  readonly counts = new Map<number, number>();

  note(status: number): void {
    this.counts.set(status, (this.counts.get(status) ?? 0) + 1);
  }

  get answered(): number {
    return [...this.counts].reduce((sum, [status, count]) => sum + (status === 200 ? count : 0), 0);
  }
}

/** Statuses after which a client retries. */
const again = [0, 502, 503, 429];

/** Calls over REST with an idempotency key until there is an answer. Returns its data. */
export async function insist(
  origin: string,
  token: string,
  name: OperationName,
  input: Args,
  tally: Tally,
  key: string = randomUUID(),
): Promise<RawAnswer["body"]> {
  for (;;) {
    const answer = await tried(rest({ origin }, token, name, input, { "idempotency-key": key }));
    tally.note(answer?.status ?? 0);
    if (answer && answer.status < 300) return answer.body.data;
    if (answer && !again.includes(answer.status)) throw new Error(`${name}: ${answer.status} ${answer.text}`);
    await delay(answer?.status === 429 ? 1_000 : 50);
  }
}

export async function tried<R>(request: Promise<R>): Promise<R | undefined> {
  return request.catch(() => undefined);
}

/** The parts of a tool result that these clients read. */
export interface ToolAnswer {
  readonly status: number;
  // biome-ignore lint/suspicious/noExplicitAny: tests read answers without their types
  readonly data?: any;
  /** The error code of a refusal. */
  readonly code?: string;
  readonly confirmation?: string;
  /** The value of `Retry-After`. */
  readonly retryAfter?: string;
}

const accept = "application/json, text/event-stream";
let ids = 0;

/** Calls a tool once, as clients of either revision do, in a session if there is one. */
export async function callTool(
  origin: string,
  token: string,
  { name, args, key }: { readonly name: string; readonly args: Args; readonly key?: string },
  session?: string,
): Promise<ToolAnswer> {
  const revision: Revision = session === undefined ? "2026-07-28" : "2025-06-18";
  const meta = {
    ...(key === undefined ? {} : { "programme-mcp/idempotencyKey": key }),
    ...(session === undefined ? envelope : {}),
  };
  const response = await fetch(`${origin}/mcp`, {
    method: "POST",
    headers: {
      authorization: `Bearer ${token}`,
      "content-type": "application/json",
      accept,
      "mcp-protocol-version": revision,
      ...(session === undefined ? { "mcp-method": "tools/call", "mcp-name": name } : { "mcp-session-id": session }),
    },
    body: JSON.stringify({
      jsonrpc: "2.0",
      id: ++ids,
      method: "tools/call",
      params: { name, arguments: args, _meta: meta },
    }),
  });
  const text = await response.text();
  if (response.status !== 200) return { status: response.status, ...refusalIn(response, text) };
  return { status: 200, ...answerIn(text) };
}

function refusalIn({ headers }: Response, text: string): Pick<ToolAnswer, "code" | "retryAfter"> {
  const code = /"code":"(\w+)"/.exec(text)?.[1];
  const retryAfter = headers.get("retry-after");
  return { ...(code === undefined ? {} : { code }), ...(retryAfter === null ? {} : { retryAfter }) };
}

const envelope = {
  "io.modelcontextprotocol/protocolVersion": "2026-07-28",
  "io.modelcontextprotocol/clientInfo": { name: "test", version: "1.0.0" },
  "io.modelcontextprotocol/clientCapabilities": {},
};

function answerIn(text: string): Omit<ToolAnswer, "status"> {
  const json = text.startsWith("{")
    ? text
    : (text.split("\n").findLast((line) => line.startsWith("data: ")) ?? "data: {}").slice(6);
  const { result } = JSON.parse(json);
  if (!result) throw new Error(`No result: ${text}`);
  if (result.isError) return { code: JSON.parse(result.content[0].text).error.code };
  const { data, confirmation } = result.structuredContent;
  return confirmation ? { confirmation: confirmation.token } : { data };
}

/** Opens a session (2025-11-25) of a client without elicitation. */
export async function openSession(origin: string, token: string): Promise<string> {
  for (;;) {
    const id = await tried(initialize(origin, token));
    if (id) return id;
    await delay(50);
  }
}

async function initialize(origin: string, token: string): Promise<string | null> {
  const params = { protocolVersion: "2025-06-18", capabilities: {}, clientInfo: { name: "test", version: "1.0.0" } };
  const response = await fetch(`${origin}/mcp`, {
    method: "POST",
    headers: { authorization: `Bearer ${token}`, "content-type": "application/json", accept },
    body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "initialize", params }),
  });
  await response.text();
  return response.headers.get("mcp-session-id");
}
