import { once } from "node:events";
import { connect } from "node:net";
import { setTimeout as wait } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { openSession } from "../replicas/raw-session.ts";
import { send } from "../support/clients/raw-http.ts";
import { type Home, openHome } from "../support/processes/program.ts";
import { waitFor } from "../support/wait.ts";
import { openMisbehaving } from "../upstream/misbehaving-proxy.ts";
import { listenFor } from "./streams.ts";

async function serve(home: Home, args: readonly string[] = [], environment: Record<string, string> = {}) {
  const started = home.start(["http", "--port", "0", "--demo", "--database", home.database, ...args], environment);
  const [, origin = ""] = await started.printed(/MCP +(http:\/\/\S+)\/mcp\n/);
  const [, token = ""] = await started.printed(/Token +(.*)\n/);
  return { started, origin, token };
}

/** A request whose body is not sent until `finish` is called. */
async function slowRequest(origin: string, token: string) {
  const body = JSON.stringify({ kinds: ["applicant"], provenance: { source: "test" } });
  const { hostname, port } = new URL(origin);
  const socket = connect(Number(port), hostname);
  socket.on("error", () => undefined);
  let received = "";
  socket.on("data", (chunk) => (received += chunk));
  await once(socket, "connect");
  const head = `POST /integrations/v1/persons HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${token}\r\n`;
  socket.write(`${head}Content-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n`);
  await wait(200);
  return {
    received: () => received,
    closed: new Promise((resolve) => socket.once("close", resolve)),
    finish: () => socket.write(body),
  };
}

describe("a server that is told to stop", () => {
  test("reports not ready, keeps serving for the drain time, then closes and exits with 0", async () => {
    const home = await openHome();
    const { started, origin, token } = await serve(home, ["--drain-seconds", "2"]);
    expect((await send(`${origin}/readyz`, {})).status).toBe(200);
    started.process.kill("SIGTERM");
    await waitFor(async () => {
      const { status, body } = await send(`${origin}/readyz`, {});
      expect([status, body.status]).toEqual([503, "draining"]);
    });
    const headers = { authorization: `Bearer ${token}` };
    expect((await send(`${origin}/integrations/v1/programs`, { headers })).status).toBe(200);
    expect((await send(`${origin}/healthz`, {})).status).toBe(200);
    const { code, stderr } = await started.ended();
    expect(code).toBe(0);
    expect(stderr).not.toMatch(/"level":"(warn|error)"/);
    await expect(send(`${origin}/healthz`, {})).rejects.toThrow(/ECONNREFUSED/);
  });

  test("finishes requests in flight and ends streams", async () => {
    const home = await openHome();
    const { started, origin, token } = await serve(home);
    const stream = await listenFor({ origin }, token, ["programme://programs"], new AbortController().signal);
    const slow = await slowRequest(origin, token);
    started.process.kill("SIGTERM");
    await stream.ended;
    expect(started.process.exitCode).toBeNull();
    slow.finish();
    await slow.closed;
    expect(slow.received()).toMatch(/^HTTP\/1\.1 201 /);
    expect((await started.ended()).code).toBe(0);
  });

  test("answers a call of a session that waits for its human, before its stream ends", async () => {
    const home = await openHome();
    const { started, origin, token } = await serve(home, [], { PROGRAMME_CONFIRM: "ask" });
    const headers = { authorization: `Bearer ${token}` };
    const { body } = await send(`${origin}/integrations/v1/submissions?state=SUBMITTED`, { headers });
    const { submissionId, version } = body.data[0];
    const session = await openSession(origin, token);
    const asked = await session.callAsked("eliminate_submission", { submissionId, version, reason: "Out of scope" });
    started.process.kill("SIGTERM");
    const answer = await asked.result;
    expect(answer.isError).toBe(true);
    expect(JSON.stringify(answer)).toMatch(/unavailable.*The server is stopping\..*same idempotency key/);
    expect((await started.ended()).code).toBe(0);
    const again = await serve(home);
    const after = await send(`${again.origin}/integrations/v1/submissions/${submissionId}`, { headers });
    expect(after.body.data).toMatchObject({ state: "SUBMITTED", version });
    await again.started.stop();
  });

  test("aborts requests after the shutdown time, and exits with 0", async () => {
    const home = await openHome();
    const { started, origin, token } = await serve(home, ["--shutdown-seconds", "1"]);
    const slow = await slowRequest(origin, token);
    started.process.kill("SIGTERM");
    await slow.closed;
    expect(slow.received()).not.toContain("201");
    expect((await started.ended()).code).toBe(0);
  });

  test.each([
    ["SIGTERM", 143],
    ["SIGINT", 130],
  ] as const)("twice, by %s, exits at once", async (signal, code) => {
    const home = await openHome();
    const { started, origin, token } = await serve(home, ["--drain-seconds", "600"]);
    const slow = await slowRequest(origin, token);
    started.process.kill(signal);
    await waitFor(async () => expect((await send(`${origin}/readyz`, {})).status).toBe(503));
    started.process.kill(signal);
    expect((await started.ended()).code).toBe(code);
    await slow.closed;
    expect(slow.received()).toBe("");
    // Nothing was lost that had been answered for.
    const again = await serve(home);
    expect((await send(`${again.origin}/readyz`, {})).status).toBe(200);
    await again.started.stop();
  });

  test("serves metrics until the end", async () => {
    const home = await openHome();
    const { started, origin } = await serve(home, ["--drain-seconds", "1", "--metrics", "127.0.0.1:0"]);
    const [, url = ""] = await waitFor(() => {
      const found = /"url":"(http:[^"]+)"/.exec(started.output());
      if (!found) throw new Error("Not told yet");
      return found;
    });
    started.process.kill("SIGTERM");
    await waitFor(async () => expect((await send(`${origin}/readyz`, {})).status).toBe(503));
    expect((await send(url, {})).text).toContain("programme_http_requests_total");
    expect((await started.ended()).code).toBe(0);
    await expect(send(url, {})).rejects.toThrow();
  });
});

test("a metrics port in use is a usage error", async () => {
  const home = await openHome();
  const first = await serve(home);
  const taken = new URL(first.origin).host;
  const { code, stderr } = await home.run(["http", "--port", "0", "--metrics", taken, "--database", home.database]);
  expect([code, stderr]).toEqual([2, `error: --metrics ${taken} is in use; choose another.\n`]);
  await first.started.stop();
});

describe("over stdio", () => {
  const initialize = {
    jsonrpc: "2.0",
    id: 1,
    method: "initialize",
    params: { protocolVersion: "2025-06-18", capabilities: {}, clientInfo: { name: "test", version: "1.0.0" } },
  };
  const initialized = { jsonrpc: "2.0", method: "notifications/initialized" };
  const call = { jsonrpc: "2.0", id: 2, method: "tools/call", params: { name: "list_programs", arguments: {} } };
  const lines = [initialize, initialized, call].map((message) => `${JSON.stringify(message)}\n`).join("");

  test("a call is answered even if the client closes its input right after it", async () => {
    const home = await openHome();
    const started = home.start(["stdio", "--database", home.database, "--demo"]);
    started.process.stdin?.end(lines);
    const { code, stdout } = await started.ended();
    const answers = stdout
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line));
    expect(answers.find(({ id }) => id === 2)?.result?.content[0].text).toContain("prg_");
    expect(code).toBe(0);
  });

  test("a call to a remote service in flight is answered when the program is told to stop", async () => {
    const home = await openHome();
    const service = await serve(home);
    const proxy = await openMisbehaving(service.origin);
    const requested = Promise.withResolvers<void>();
    proxy.behave(() => async ({ response, forward }) => {
      requested.resolve();
      await wait(500);
      const { status, headers, text } = await forward();
      response.writeHead(status, headers).end(text);
    });
    const started = home.start(["stdio", "--base-url", proxy.origin], { PROGRAMME_TOKEN: service.token });
    started.process.stdin?.write(lines);
    await requested.promise;
    const { code, stdout } = await started.stop();
    expect(stdout).toContain("prg_");
    expect(code).toBe(0);
    await proxy.close();
    await service.started.stop();
  });
});
