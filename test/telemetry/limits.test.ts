import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { setTimeout as wait } from "node:timers/promises";
import { pino } from "pino";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { unwatched } from "../../src/lib/telemetry.ts";
import { slowClientAfterMs } from "../../src/transport/http/concurrency-limiter.ts";
import { type HttpSurfaces, httpTimeouts, listenHttp, maxHeaderBytes } from "../../src/transport/http/server.ts";
import { maxStreamsPerCaller } from "../../src/transport/sessions/listen.ts";
import { rest, send } from "../support/clients/raw-http.ts";
import { openTestServer, type TestServer } from "../support/servers/test-server.ts";
import { waitFor } from "../support/wait.ts";
import { listenFor, listenInSession } from "./streams.ts";

async function openServerWith(environment: Record<string, string> = {}): Promise<TestServer> {
  const { server: testServer, close } = await openTestServer(environment);
  onTestFinished(close);
  return testServer;
}

/** A raw connection, and the bytes received on it. */
interface Wire {
  readonly socket: Socket;
  readonly received: () => string;
  /** Resolves when the other side has closed the connection. */
  readonly closed: Promise<unknown>;
}

function open(origin: string, bytes = ""): Wire {
  const { hostname, port } = new URL(origin);
  const socket = connect(Number(port), hostname);
  let received = "";
  socket.on("data", (chunk) => (received += chunk));
  socket.on("error", () => undefined);
  if (bytes !== "") socket.write(bytes);
  onTestFinished(() => void socket.destroy());
  return { socket, received: () => received, closed: new Promise((resolve) => socket.once("close", resolve)) };
}

/** Sends a request that announces a body and does not send it. */
function openSlowRequest(origin: string, token: string): Wire {
  const head = `POST /integrations/v1/persons HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${token}\r\n`;
  return open(origin, `${head}Content-Type: application/json\r\nContent-Length: 100\r\n\r\n{`);
}

describe("a slow client", () => {
  const surfaces: HttpSurfaces = {
    async rest(request, response) {
      request.resume().once("end", () => response.end("x".repeat(20_000_000)));
    },
    downloads: { find: async () => undefined },
    readiness: async () => ({ ready: true, status: "ready", checks: {} }),
    telemetry: unwatched,
    log: pino({ level: "silent" }),
  };

  /** Opens a server with timeouts of a thousandth of the usual. */
  async function openServerWithShortTimeouts(): Promise<string> {
    const shorter = Object.entries(httpTimeouts).map(([name, ms]) => [name, Math.ceil(ms / 100)]);
    const server = await listenHttp(
      {
        host: "127.0.0.1",
        port: 0,
        allowedHosts: [],
        allowedOrigins: [],
        maxConcurrentRequests: 10,
        maxConnections: 10,
        maxConnectionsPerAddress: 10,
        shutdownSeconds: 1,
        timeouts: Object.fromEntries(shorter) as typeof httpTimeouts,
      },
      surfaces,
    );
    onTestFinished(() => server.close());
    return server.origin;
  }

  test("that does not finish its request head is disconnected", async () => {
    const wire = open(
      await openServerWithShortTimeouts(),
      "GET /integrations/v1/programs HTTP/1.1\r\nHost: localhost\r\n",
    );
    await wire.closed;
    expect(wire.received()).toMatch(/^HTTP\/1\.1 408 /);
  });

  test("that sends its request head byte by byte is disconnected", async () => {
    const wire = open(await openServerWithShortTimeouts(), "GET / HTTP/1.1\r\nHost: localhost\r\n");
    const dripping = setInterval(() => wire.socket.write("x"), 20);
    onTestFinished(() => clearInterval(dripping));
    await wire.closed;
    expect(wire.received()).toMatch(/^HTTP\/1\.1 408 /);
  });

  test("that does not finish its request body is disconnected, even if it keeps sending", async () => {
    const wire = openSlowRequest(await openServerWithShortTimeouts(), "a".repeat(64));
    const dripping = setInterval(() => wire.socket.write(" "), 20);
    onTestFinished(() => clearInterval(dripping));
    await wire.closed;
    expect(wire.received()).not.toMatch(/^HTTP\/1\.1 2/);
  });

  test("that does not read the response is disconnected", async () => {
    const origin = await openServerWithShortTimeouts();
    const wire = open(origin);
    wire.socket.pause();
    wire.socket.write("GET /integrations/v1/programs HTTP/1.1\r\nHost: localhost\r\n\r\n");
    await waitFor(async () => expect(await send(`${origin}/healthz`, {})).toMatchObject({ status: 200 }));
    await wait(httpTimeouts.stallMs / 100 + 300);
    wire.socket.resume();
    await wire.closed;
    expect(wire.received().length).toBeLessThan(20_000_000);
  });

  test("that sends no further request has its connection closed", async () => {
    const wire = open(await openServerWithShortTimeouts(), "GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n");
    await wire.closed;
    expect(wire.received()).toMatch(/^HTTP\/1\.1 200 /);
  });
});

test("a request head above the size limit is refused", async () => {
  const testServer = await openServerWith();
  const padding = "x".repeat(maxHeaderBytes);
  expect((await send(`${testServer.origin}/integrations/v1/programs`, { headers: { padding } })).status).toBe(431);
  const authorization = `Bearer ${await testServer.token()}`;
  const fits = { authorization, padding: "x".repeat(maxHeaderBytes / 2) };
  expect((await send(`${testServer.origin}/integrations/v1/programs`, { headers: fits })).status).toBe(200);
});

test("a request body above the size limit is refused by REST and MCP", async () => {
  const testServer = await openServerWith({ PROGRAMME_MAX_BODY_BYTES: "2048" });
  const token = await testServer.token();
  const answer = await rest(testServer, token, "create_person", { metadata: { note: "x".repeat(3_000) } });
  expect([answer.status, answer.body.error.code]).toEqual([413, "payload_too_large"]);
  const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
  const accept = "application/json, text/event-stream";
  const message = { jsonrpc: "2.0", id: 1, method: "tools/list", params: { _meta: { note: "x".repeat(3_000) } } };
  const mcp = await send(
    `${testServer.origin}/mcp`,
    { method: "POST", headers: { ...headers, accept } },
    JSON.stringify(message),
  );
  expect(mcp.status).toBe(413);
});

describe("slots for concurrent requests", () => {
  test("are taken from slow clients when others need them", async () => {
    const testServer = await openServerWith({ PROGRAMME_MAX_CONCURRENT_REQUESTS: "2" });
    const token = await testServer.token();
    const slow = [openSlowRequest(testServer.origin, token), openSlowRequest(testServer.origin, token)];
    await waitFor(async () => expect((await rest(testServer, token, "list_programs", {})).status).toBe(503));
    await wait(slowClientAfterMs);
    await waitFor(async () => expect((await rest(testServer, token, "list_programs", {})).status).toBe(200));
    // One connection was closed; the others were not needed.
    await slow[0]?.closed;
    expect(slow[1]?.socket.closed).toBe(false);
  });

  test("are kept by requests in progress, however long they take", async () => {
    const testServer = await openServerWith({ PROGRAMME_MAX_CONCURRENT_REQUESTS: "1" });
    const token = await testServer.token();
    const going = Promise.withResolvers<void>();
    const held = vi.spyOn(testServer.app.store, "findToken").mockImplementationOnce(async () => {
      await going.promise;
      return undefined;
    });
    const long = rest(testServer, "c".repeat(64), "list_programs", {});
    await waitFor(() => expect(held).toHaveBeenCalled());
    await wait(slowClientAfterMs + 100);
    expect((await rest(testServer, token, "list_programs", {})).status).toBe(503);
    going.resolve();
    expect((await long).status).toBe(401);
    expect((await rest(testServer, token, "list_programs", {})).status).toBe(200);
  });
});

test.each([
  ["connections beyond the limit", "PROGRAMME_MAX_CONNECTIONS"],
  ["connections beyond the limit of one address", "PROGRAMME_MAX_CONNECTIONS_PER_ADDRESS"],
])("%s are closed", async (_, setting) => {
  const testServer = await openServerWith({ [setting]: "2" });
  const held = [open(testServer.origin), open(testServer.origin)];
  await Promise.all(held.map(({ socket }) => once(socket, "connect")));
  const third = open(testServer.origin, "GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n");
  await third.closed;
  expect(third.received()).toBe("");
  held[0]?.socket.destroy();
  await waitFor(async () => expect((await send(`${testServer.origin}/healthz`, {})).status).toBe(200));
});

describe("sessions with a stream", () => {
  test("are limited by the operator's setting for all callers", async () => {
    const testServer = await openServerWith({ PROGRAMME_MAX_SESSIONS: "1" });
    const ending = new AbortController();
    onTestFinished(() => ending.abort());
    expect(await listenInSession(testServer, await testServer.token(), ending.signal)).toBe(200);
    expect(await listenInSession(testServer, await testServer.token(), ending.signal)).toBe(503);
  });

  test("are limited for one caller", async () => {
    const testServer = await openServerWith();
    const [token, other] = [await testServer.token(), await testServer.token()];
    const ending = new AbortController();
    onTestFinished(() => ending.abort());
    for (let count = 0; count < maxStreamsPerCaller; count++) {
      expect(await listenInSession(testServer, token, ending.signal)).toBe(200);
    }
    expect(await listenInSession(testServer, token, ending.signal)).toBe(503);
    expect(await listenInSession(testServer, other, ending.signal)).toBe(200);
  });
});

test("streams of one caller beyond the limit are refused, others' are not", async () => {
  const testServer = await openServerWith();
  const [token, other] = [await testServer.token(), await testServer.token()];
  const ending = new AbortController();
  onTestFinished(() => ending.abort());
  const uris = ["programme://programs"];
  for (let count = 0; count < maxStreamsPerCaller; count++) {
    expect((await listenFor(testServer, token, uris, ending.signal)).first).not.toContain("limit");
  }
  expect((await listenFor(testServer, token, uris, ending.signal)).first).toContain("Subscription limit reached");
  expect((await listenFor(testServer, other, uris, ending.signal)).first).not.toContain("limit");
});
