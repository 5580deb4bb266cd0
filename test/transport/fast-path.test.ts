import type { JSONRPCMessage } from "@modelcontextprotocol/server";
import { describe, expect, onTestFinished } from "vitest";
import { send } from "../support/clients/raw-http.ts";
import { createStdioPair } from "../support/clients/stdio-pair.ts";
import { type AnswerPath, answerPaths, byAnswerPath } from "../support/servers/answer-paths.ts";
import { type TestServer, tenantTest as test } from "../support/servers/test-server.ts";

interface Request {
  readonly jsonrpc: "2.0";
  readonly id: string | number;
  readonly method: string;
  readonly params?: Readonly<Record<string, unknown>>;
}

// biome-ignore lint/suspicious/noExplicitAny: tests read answers without their types
type Message = any;
type Ask = (request: Request) => Promise<Message>;
type Connect = (server: TestServer, token: string, answerPath: AnswerPath) => Promise<Ask>;

const info = { name: "test", version: "1.0.0" };
const envelope = {
  "io.modelcontextprotocol/protocolVersion": "2026-07-28",
  "io.modelcontextprotocol/clientInfo": info,
  "io.modelcontextprotocol/clientCapabilities": {},
};
const initialize = {
  jsonrpc: "2.0",
  id: "hello",
  method: "initialize",
  params: { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: info },
} as const;
const initialized = { jsonrpc: "2.0", method: "notifications/initialized" } as const;

function withEnvelope(request: Request): Request {
  const meta = request.params?.["_meta"] as object | undefined;
  return { ...request, params: { ...request.params, _meta: { ...meta, ...envelope } } };
}

async function post(server: TestServer, token: string, message: object, headers: Record<string, string>) {
  const common = {
    "content-type": "application/json",
    accept: "application/json, text/event-stream",
    authorization: `Bearer ${token}`,
  };
  const options = { method: "POST", headers: { ...common, ...headers } };
  const answer = await send(`${server.origin}/mcp`, options, JSON.stringify(message));
  const body = answer.body ?? JSON.parse(/^data: (.*)$/m.exec(answer.text)?.[1] ?? "null");
  return { ...answer, body };
}

function stateless(server: TestServer, token: string, answerPath: AnswerPath): Ask {
  return async (request) => {
    const { name } = request.params ?? {};
    const named = typeof name === "string" ? { "mcp-name": name } : {};
    const headers = { "mcp-protocol-version": "2026-07-28", "mcp-method": request.method, ...named };
    return (await post(server, token, byAnswerPath(answerPath, withEnvelope(request)), headers)).body;
  };
}

async function session(server: TestServer, token: string, answerPath: AnswerPath): Promise<Ask> {
  const opened = await post(server, token, initialize, {});
  const headers = {
    "mcp-session-id": opened.headers.get("mcp-session-id") ?? "",
    "mcp-protocol-version": "2025-11-25",
  };
  await post(server, token, initialized, headers);
  return async (request) => (await post(server, token, byAnswerPath(answerPath, request), headers)).body;
}

/** A connection over a wire: an answer is known by its id. */
function wired(server: TestServer, token: string) {
  const [here, there] = createStdioPair();
  const waiting = new Map<unknown, (message: JSONRPCMessage) => void>();
  here.onmessage = (message) => {
    if ("id" in message) waiting.get(message.id)?.(message);
  };
  void here.start();
  const connection = server.app.connectStdio(token, there);
  onTestFinished(() => connection.close());
  const ask: Ask = (request) =>
    new Promise((resolve) => {
      waiting.set(request.id, resolve);
      void here.send(request);
    });
  return { ask, notify: (message: JSONRPCMessage) => here.send(message) };
}

const connections: Readonly<Record<string, Connect>> = {
  "2026-07-28 over HTTP": async (server, token, answerPath) => stateless(server, token, answerPath),
  "2025-11-25 in a session": session,
  "2025-11-25 without a session": async (server, token, answerPath) => async (request) =>
    (await post(server, token, byAnswerPath(answerPath, request), { "mcp-protocol-version": "2025-11-25" })).body,
  "2026-07-28 over stdio": async (server, token, answerPath) => {
    const { ask } = wired(server, token);
    await ask(withEnvelope({ jsonrpc: "2.0", id: "first", method: "server/discover" }));
    return (request) => ask(byAnswerPath(answerPath, withEnvelope(request)));
  },
  "2025-11-25 over stdio": async (server, token, answerPath) => {
    const { ask, notify } = wired(server, token);
    await ask(initialize);
    await notify(initialized);
    return (request) => ask(byAnswerPath(answerPath, request));
  },
};

let ids = 0;
const call = (name: string, args?: unknown, meta?: object): Request => ({
  jsonrpc: "2.0",
  id: ++ids,
  method: "tools/call",
  params: { name, ...(args === undefined ? {} : { arguments: args }), ...(meta ? { _meta: meta } : {}) } as never,
});

/** The requests about one programme that are sent to both paths. */
function requests(programId: string): Request[] {
  return [
    { jsonrpc: "2.0", id: "a text", method: "tools/list" },
    { jsonrpc: "2.0", id: 0, method: "tools/list", params: {} },
    call("get_program", { programId }),
    call("get_program", { programId: "prg_nowhere" }),
    call("get_program", { program_id: programId, select: "name,version" }),
    call("get_program", {}),
    call("get_program"),
    call("get_program", { programId, unknown: 1 }),
    call("list_programs", { limit: "5" }),
    call("list_submissions", { programId, all: true }),
    call("get_person", { personId: "per_1" }),
    call("eliminate_submission", { submissionId: "sub_1", reason: "Late", version: 0 }),
    call("update_program", { programId, version: 99, name: "Other" }),
    call("update_program", { programId, version: 99, name: "Other" }, { "programme-mcp/idempotencyKey": "" }),
    call("get_connection", {}),
    call("get_connection", { surplus: true }),
    call("no_such_tool", {}),
    call("__proto__", {}),
    call("get_program", [programId]),
    call("get_program", "text"),
    { jsonrpc: "2.0", id: ++ids, method: "tools/call", params: { name: 7 } },
    { jsonrpc: "2.0", id: ++ids, method: "tools/call", params: {} },
    { jsonrpc: "2.0", id: ++ids, method: "tools/list", params: { cursor: "beyond" } },
  ];
}

/** Without what differs from call to call. */
function steady(answer: Message): Message {
  const text = JSON.stringify(answer).replaceAll(/(remaining\\*":)\d+/g, "$1 0");
  return JSON.parse(text.replaceAll(/req_[0-9A-Z]{26}/g, "req_"));
}

describe.each(Object.entries(connections))("a client of %s", (_, connect) => {
  test("gets the same answer through the fast path and through the SDK", async ({ server }) => {
    const { programId } = await server.seed.program();
    const token = await server.token(["programs:read", "programs:write", "submissions:read"]);
    const [byFastPath, bySdk] = await Promise.all(answerPaths.map((answerPath) => connect(server, token, answerPath)));
    for (const request of requests(programId)) {
      const [fast, sdk] = [await byFastPath?.(request), await bySdk?.(request)];
      expect(fast?.id, JSON.stringify(request)).toBe(request.id);
      expect(steady(fast), JSON.stringify(request)).toEqual(steady(sdk));
    }
  });
});

test("a request that the fast path cannot answer is passed to the SDK", async ({ server }) => {
  const token = await server.token();
  const headers = { "mcp-protocol-version": "2025-11-25" };
  const withProgress = call("list_programs", {}, { progressToken: 1 });
  expect((await post(server, token, withProgress, headers)).headers.get("content-type")).toBe("text/event-stream");
  const plain = await post(server, token, call("list_programs", {}), headers);
  expect(plain.headers.get("content-type")).toBe("application/json");
  expect(plain.headers.get("x-request-id")).toMatch(/^req_/);
});

test("the fast path refuses headers that contradict the body, as the SDK does", async ({ server }) => {
  const token = await server.token();
  const body = withEnvelope(call("list_programs", {}));
  const good = { "mcp-protocol-version": "2026-07-28", "mcp-method": "tools/call", "mcp-name": "list_programs" };
  expect((await post(server, token, body, good)).status).toBe(200);
  for (const [name, value] of [
    ["mcp-method", "tools/list"],
    ["mcp-name", "get_program"],
    ["mcp-protocol-version", "2025-11-25"],
  ] as const) {
    const refused = await post(server, token, body, { ...good, [name]: value });
    expect(refused.status, name).toBe(400);
    expect(refused.body.error.code, name).toBe(-32_020);
  }
  const { "mcp-name": _, ...unnamed } = good;
  expect((await post(server, token, body, unnamed)).status).toBe(400);
});

test("a session answers only the caller that opened it", async ({ server }) => {
  const [token, other] = [await server.token(), await server.token()];
  const opened = await post(server, token, initialize, {});
  const headers = { "mcp-session-id": opened.headers.get("mcp-session-id") ?? "" };
  expect((await post(server, token, call("list_programs", {}), headers)).body.result).toBeDefined();
  expect((await post(server, other, call("list_programs", {}), headers)).status).toBe(404);
  expect((await post(server, "0".repeat(64), call("list_programs", {}), headers)).status).toBe(401);
});
