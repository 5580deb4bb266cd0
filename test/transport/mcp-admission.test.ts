import { once } from "node:events";
import { connect } from "node:net";
import { describe, expect, onTestFinished, test } from "vitest";
import { limits } from "../../src/contract/access/limits.ts";
import { maxUnknownPerMinute } from "../../src/transport/auth/unknown-tokens.ts";
import { getClientAddress } from "../../src/transport/http/client-address.ts";
import { getMessagesPerMinute, maxBatch } from "../../src/transport/http/mcp-admission.ts";
import { type RawAnswer, send } from "../support/clients/raw-http.ts";
import { listAudit } from "../support/data/state.ts";
import { openTestServer, type TestServer } from "../support/servers/test-server.ts";

async function openServerWith(requestsPerMinute: number): Promise<TestServer> {
  const { server, close } = await openTestServer({ PROGRAMME_REQUESTS_PER_MINUTE: String(requestsPerMinute) });
  onTestFinished(close);
  return server;
}

const unknownToken = "0".repeat(64);

/** The beginning of requests of either revision. */
const revisions = {
  "2026-07-28": { "mcp-protocol-version": "2026-07-28", "mcp-method": "tools/call", "mcp-name": "get_program" },
  "2025-06-18": { "mcp-protocol-version": "2025-06-18" },
};

function mcp(
  server: TestServer,
  token: string,
  body: string,
  headers: Record<string, string> = {},
): Promise<RawAnswer> {
  const common = {
    authorization: `Bearer ${token}`,
    "content-type": "application/json",
    accept: "application/json, text/event-stream",
  };
  return send(`${server.origin}/mcp`, { method: "POST", headers: { ...common, ...headers } }, body);
}

function messageOf(method: string, params: object = {}): string {
  return JSON.stringify({ jsonrpc: "2.0", id: 1, method, params });
}

/** The beginning of the answer to a request whose body is never sent. */
async function answerToHead(server: TestServer, path: string, token: string): Promise<string> {
  const { hostname, port } = new URL(server.origin);
  const socket = connect(Number(port), hostname);
  onTestFinished(() => void socket.destroy());
  const head = `POST ${path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${token}\r\n`;
  socket.write(`${head}Content-Type: application/json\r\nContent-Length: ${limits.maxBodyBytes}\r\n\r\n{`);
  const [chunk] = await once(socket, "data");
  return String(chunk);
}

describe("an unknown token", () => {
  test.for(["/mcp", "/integrations/v1/persons"])("is refused at %s before the body is read", async (path) => {
    const server = await openServerWith(300);
    expect(await answerToHead(server, path, unknownToken)).toMatch(/^HTTP\/1\.1 401 /);
  });

  test.for(["/mcp", "/integrations/v1/persons"])("is rate-limited by client address at %s", async (path) => {
    const server = await openServerWith(300);
    const known = await server.token();
    const ask = (token: string) =>
      send(`${server.origin}${path}`, { method: "GET", headers: { authorization: `Bearer ${token}` } });
    expect((await ask(known)).status).toBeLessThan(429);
    let refused: RawAnswer | undefined;
    for (let sent = 0; sent <= 2 * maxUnknownPerMinute && refused?.status !== 429; sent += 1) {
      refused = await ask(sent.toString(16).padStart(64, "0"));
    }
    expect(refused?.status).toBe(429);
    expect(Number(refused?.headers.get("retry-after"))).toBeGreaterThan(0);
    // Behind a proxy everybody has this address.
    expect((await ask(known)).status).toBeLessThan(429);
  });
});

test.for([
  "/mcp",
  "/integrations/v1/programs",
])("the first requests with valid tokens do not count against their address at %s", async (path) => {
  const server = await openServerWith(300);
  const statuses = new Set<number>();
  for (let sent = 0; sent <= maxUnknownPerMinute; sent += 1) {
    const headers = { authorization: `Bearer ${await server.token()}` };
    statuses.add((await send(`${server.origin}${path}`, { method: "GET", headers })).status);
  }
  expect(statuses).not.toContain(429);
});

describe.each(Object.entries(revisions))("a request with too many JSON values, in %s", (_, headers) => {
  const many = Object.fromEntries(Array.from({ length: 70_000 }, (__, index) => [`a${index}`, 1]));
  const message = messageOf("tools/call", { name: "get_program", arguments: many });

  test("is refused unparsed, counts against the rate limit and is recorded", async () => {
    const server = await openServerWith(300);
    const token = await server.token();
    const answer = await mcp(server, token, message, headers);
    expect(answer).toMatchObject({ status: 400, body: { error: { data: { code: "validation_failed" } } } });
    expect((await server.app.pipeline.describe(await server.app.pipeline.identify(token))).rate.remaining).toBe(299);
    await server.app.pipeline.flush();
    const { tokenId } = await server.app.pipeline.identify(token);
    const entries = await listAudit(server.app.store, server.businessId, "request.refused");
    expect(entries).toMatchObject([{ status: 400, tokenId, requestId: answer.headers.get("x-request-id") }]);
  });

  test("is refused for the rate limit once that is used up", async () => {
    const server = await openServerWith(2);
    const token = await server.token();
    const statuses: number[] = [];
    for (let sent = 0; sent < 3; sent += 1) statuses.push((await mcp(server, token, message, headers)).status);
    expect(statuses).toEqual([400, 400, 429]);
  });
});

describe("messages other than calls", () => {
  const requestsPerMinute = 5;
  const mayCome = getMessagesPerMinute(requestsPerMinute);
  const hello = { protocolVersion: "2025-06-18", capabilities: {}, clientInfo: { name: "test", version: "1" } };

  test.for([
    ["tools/list", messageOf("tools/list")],
    ["initialize", messageOf("initialize", hello)],
    ["ping", messageOf("ping")],
    ["what is no JSON", "{"],
  ] as const)("count against the rate limit: %s", async ([, message]) => {
    const server = await openServerWith(requestsPerMinute);
    const token = await server.token();
    const statuses: number[] = [];
    for (let sent = 0; sent <= mayCome; sent += 1) statuses.push((await mcp(server, token, message)).status);
    expect(statuses.indexOf(429)).toBe(mayCome);
    // Before anything is read of it.
    expect(await answerToHead(server, "/mcp", token)).toMatch(/^HTTP\/1\.1 429 /);
    // Others have their own.
    expect((await mcp(server, await server.token(), message)).status).not.toBe(429);
  });

  test("are counted one by one in a batch", async () => {
    const server = await openServerWith(requestsPerMinute);
    const token = await server.token();
    const batchOf = (length: number) => `[${Array.from({ length }, () => messageOf("ping")).join(",")}]`;
    expect((await mcp(server, token, batchOf(maxBatch))).status).not.toBe(429);
    expect((await mcp(server, token, batchOf(mayCome - maxBatch))).status).not.toBe(429);
    expect((await mcp(server, token, messageOf("ping"))).status).toBe(429);
  });

  test("have a maximum batch size", async () => {
    const server = await openServerWith(300);
    const batch = `[${Array.from({ length: maxBatch + 1 }, () => messageOf("tools/list")).join(",")}]`;
    expect(await mcp(server, await server.token(), batch)).toMatchObject({
      status: 400,
      body: { error: { data: { code: "validation_failed" } } },
    });
  });
});

test("an answer before the end of a short body keeps the connection open", async () => {
  const server = await openServerWith(300);
  const headers = { authorization: `Bearer ${unknownToken}`, "content-type": "application/json" };
  const at = `${server.origin}/integrations/v1/persons`;
  const answer = await fetch(at, { method: "POST", headers, body: "x".repeat(60_000) });
  expect([answer.status, answer.headers.get("connection")]).toEqual([401, "keep-alive"]);
});

test.for([
  ["203.0.113.7", "203.0.113.7"],
  ["::ffff:203.0.113.7", "203.0.113.7"],
  ["2001:db8:1:2:3:4:5:6", "2001:db8:1:2"],
  ["2001:db8:1:2::6", "2001:db8:1:2"],
  ["2001:db8::6", "2001:db8:0:0"],
  ["::1", "0:0:0:0"],
  ["fe80::1%eth0", "fe80:0:0:0"],
])("a client at %s is identified by %s", ([address, client]) => {
  expect(getClientAddress(address)).toBe(client);
});
