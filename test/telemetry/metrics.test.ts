import { describe, expect, onTestFinished, test, vi } from "vitest";
import { errorCatalog } from "../../src/contract/errors.ts";
import { createMetrics } from "../../src/telemetry/metrics.ts";
import { failuresToOpen } from "../../src/upstream/remote/circuit-breaker.ts";
import { clients } from "../support/clients/clients.ts";
import { rest, send } from "../support/clients/raw-http.ts";
import { listLoadedPackages } from "../support/processes/loaded-packages.ts";
import { openRemote } from "../support/servers/remote-server.ts";
import { openTestServer } from "../support/servers/test-server.ts";
import { waitFor } from "../support/wait.ts";
import { openMisbehaving } from "../upstream/misbehaving-proxy.ts";
import { openCounted, scrape } from "./scrape.ts";
import { listenFor, listenInSession } from "./streams.ts";

const [overHttp, overStdio] = [clients["2026-07-28 over HTTP"], clients["2025-era over stdio"]];

describe("tool calls are counted by tool and outcome", () => {
  test.for(Object.entries(clients))("from %s", async ([, connect], { expect }) => {
    const { server, scrape } = await openCounted();
    const agent = await connect(server, await server.token(["programs:read"]));
    await agent.call("list_programs", {});
    await agent.call("list_programs", { limit: 5 });
    await agent.call("get_program", { programId: "prg_none" });
    await agent.call("get_connection", {});
    const seen = await scrape();
    const calls = (tool: string, outcome: string) => seen.value("programme_tool_calls_total", { tool, outcome });
    expect(calls("list_programs", "ok")).toBe(2);
    expect(calls("get_program", "not_found")).toBe(1);
    expect(calls("get_connection", "ok")).toBe(1);
    expect(seen.value("programme_tool_call_seconds_count", { tool: "list_programs" })).toBe(2);
    expect(seen.value("programme_rest_requests_total")).toBe(0);
  });

  test("without the names of unknown tools", async () => {
    const { server, scrape } = await openCounted({ PROGRAMME_TOOL_MODE: "search" });
    const agent = await (overHttp as NonNullable<typeof overHttp>)(server, await server.token());
    await agent.call("find_tools", { words: "programs" });
    await agent.call("call_tool", { name: "ada@example.org", arguments: {} });
    await agent.call("call_tool", { name: "list_programs", arguments: {} });
    await agent.call("ada@example.org", {}).catch(() => undefined);
    const seen = await scrape();
    expect(seen.labels("programme_tool_calls_total", "tool").sort()).toEqual([
      "call_tool",
      "find_tools",
      "list_programs",
    ]);
    expect(seen.text).not.toContain("ada@");
  });
});

test("MCP requests other than tool calls are counted by method", async () => {
  const { server, scrape } = await openCounted();
  const agent = await (overHttp as NonNullable<typeof overHttp>)(server, await server.token());
  await agent.list();
  const seen = await scrape();
  expect(seen.value("programme_mcp_requests_total", { method: "tools/list", outcome: "ok" })).toBe(1);
  expect(seen.labels("programme_mcp_requests_total", "method")).not.toContain("tools/call");
});

test("REST requests are counted by operation and status, HTTP requests by surface", async () => {
  const { server, scrape } = await openCounted();
  await rest(server, await server.token(), "list_programs", {});
  await rest(server, undefined, "list_programs", {});
  await rest(server, await server.token(["programs:read"]), "list_persons", {});
  await send(`${server.origin}/integrations/v1/ada@example.org`, {});
  await send(`${server.origin}/healthz`, {});
  const seen = await scrape();
  const requests = (operation: string, status: string) =>
    seen.value("programme_rest_requests_total", { operation, status });
  expect(requests("list_programs", "200")).toBe(1);
  expect(requests("list_programs", "401")).toBe(1);
  expect(requests("list_persons", "403")).toBe(1);
  expect(seen.value("programme_http_requests_total", { surface: "rest", status: "404" })).toBe(1);
  expect(seen.value("programme_http_requests_total", { surface: "probe", status: "200" })).toBe(1);
  expect(seen.text).not.toContain("ada@");
});

test("rate-limited calls are counted by surface", async () => {
  const { server, scrape } = await openCounted({ PROGRAMME_REQUESTS_PER_MINUTE: "2" });
  const token = await server.token();
  for (let count = 0; count < 4; count++) await rest(server, token, "list_programs", {});
  const agent = await (overStdio as NonNullable<typeof overStdio>)(server, token);
  await agent.call("list_programs", {});
  const seen = await scrape();
  expect(seen.value("programme_rate_limit_refusals_total", { surface: "rest" })).toBe(2);
  expect(seen.value("programme_rate_limit_refusals_total", { surface: "mcp" })).toBe(1);
});

test("confirmation questions are counted as asked, accepted or declined", async () => {
  const { server, scrape } = await openCounted({ PROGRAMME_CONFIRM: "ask" });
  const token = await server.token();
  const withdraw = async (answer: "accept" | "decline") => {
    const { submissionId, version } = await server.seed.submission({ state: "SUBMITTED" });
    const human = () =>
      answer === "accept" ? { action: answer, content: { confirm: true } } : ({ action: answer } as const);
    const agent = await (overHttp as NonNullable<typeof overHttp>)(server, token, human);
    return agent.call("eliminate_submission", { submissionId, version, reason: "Late" });
  };
  expect((await withdraw("accept")).isError).not.toBe(true);
  expect((await withdraw("decline")).isError).toBe(true);
  expect((await withdraw("decline")).isError).toBe(true);
  const seen = await scrape();
  const questions = (outcome: string) => seen.value("programme_confirmations_total", { outcome });
  expect([questions("asked"), questions("accepted"), questions("declined")]).toEqual([3, 1, 2]);
  const calls = (outcome: string) =>
    seen.value("programme_tool_calls_total", { tool: "eliminate_submission", outcome });
  expect([calls("asked"), calls("ok"), calls("confirmation_declined")]).toEqual([3, 1, 2]);
});

test("queue metrics have the depth and the age of the oldest entry", async () => {
  const { server, scrape } = await openCounted();
  const chair = await server.as("REST");
  const { programId } = await server.seed.program();
  await chair.create_export({ programId });
  expect((await scrape()).value("programme_queue_depth", { queue: "exports" })).toBe(1);
  server.clock.advance(90_000);
  const seen = await scrape();
  expect(seen.value("programme_queue_oldest_seconds", { queue: "exports" })).toBe(90);
  expect(seen.value("programme_queue_depth", { queue: "mail" })).toBe(0);
  await server.app.exports?.step();
  const after = await scrape();
  expect(after.value("programme_queue_depth", { queue: "exports" })).toBe(0);
  expect(after.value("programme_queue_oldest_seconds", { queue: "exports" })).toBe(0);
});

test("sessions and subscriptions are counted while they are open", async () => {
  const { server, scrape } = await openCounted();
  const token = await server.token();
  const ending = new AbortController();
  expect(await listenInSession(server, token, ending.signal)).toBe(200);
  const before = await scrape();
  expect([before.value("programme_sessions"), before.value("programme_subscriptions")]).toEqual([1, 0]);

  const { programId } = await server.seed.program();
  const stream = await listenFor(server, token, [`programme://programs/${programId}`], ending.signal);
  const seen = await scrape();
  expect([seen.value("programme_sessions"), seen.value("programme_subscriptions")]).toEqual([1, 1]);
  ending.abort();
  await stream.ended;
  await waitFor(async () => {
    const after = await scrape();
    expect([after.value("programme_sessions"), after.value("programme_subscriptions")]).toEqual([0, 0]);
  });
  expect(seen.value("programme_http_connections")).toBeGreaterThan(0);
});

test("there are metrics of transactions, the process and the version", async () => {
  const { server, scrape } = await openCounted();
  await server.seed.program();
  const seen = await scrape();
  expect(seen.value("programme_transaction_seconds_count", { outcome: "committed" })).toBeGreaterThan(0);
  expect(seen.value("programme_database_wait_seconds_count")).toBeGreaterThan(0);
  expect(seen.value("process_resident_memory_bytes")).toBeGreaterThan(0);
  expect(seen.text).toMatch(/^nodejs_eventloop_lag_p99_seconds /m);
  expect(seen.labels("programme_build_info", "version")).toEqual([expect.stringMatching(/^\d+\.\d+\.\d+/)]);
});

test("there are metrics of a remote service's attempts, retries, delays and circuit breaker", async () => {
  const { server, close } = await openTestServer();
  onTestFinished(close);
  const proxy = await openMisbehaving(server.origin);
  onTestFinished(() => proxy.close());
  const app = await openRemote(proxy.origin, {
    PROGRAMME_METRICS: "127.0.0.1:0",
    PROGRAMME_REQUESTS_PER_MINUTE: "1000",
  });
  onTestFinished(() => app.close());
  const url = (await app.serveMetrics()) ?? "";
  const token = await server.token();
  const call = () => app.upstream.call({ operation: "list_programs", input: {}, token, requestId: "req_x" });

  let failures = 1;
  proxy.behave(() => (failures-- > 0 ? ({ response }) => void response.writeHead(503).end() : undefined));
  expect((await call()).ok).toBe(true);
  const seen = await scrape(url);
  const tries = (outcome: string) => seen.value("programme_upstream_requests_total", { method: "GET", outcome });
  expect([tries("failed"), tries("ok")]).toEqual([1, 1]);
  expect(seen.value("programme_upstream_retries_total")).toBe(1);
  expect(seen.value("programme_upstream_breaker", { state: "closed" })).toBe(1);
  // The queues are the product's.
  expect(seen.text).not.toContain("programme_queue_depth");

  proxy.behave(
    () =>
      ({ response }) =>
        void response.writeHead(503).end(),
  );
  await Promise.all(Array.from({ length: failuresToOpen }, call));
  expect((await scrape(url)).value("programme_upstream_breaker", { state: "open" })).toBe(1);
});

describe("the metrics endpoint", () => {
  test("serves only metrics, and no other endpoint serves them", async () => {
    const { server, url } = await openCounted();
    const { origin } = new URL(url);
    expect((await send(url, {})).headers.get("content-type")).toMatch(/^text\/plain; version=0\.0\.4/);
    for (const path of ["/", "/healthz", "/mcp", "/metrics/"]) expect((await send(origin + path, {})).status).toBe(404);
    expect((await send(url, { method: "POST" })).status).toBe(404);
    const authorization = `Bearer ${await server.token()}`;
    expect((await send(`${server.origin}/metrics`, { headers: { authorization } })).status).toBe(404);
  });

  test("answers while all request slots are taken", async () => {
    const { server, scrape } = await openCounted({ PROGRAMME_MAX_CONCURRENT_REQUESTS: "1" });
    const token = await server.token();
    const going = Promise.withResolvers<undefined>();
    vi.spyOn(server.app.store, "findToken").mockImplementationOnce(() => going.promise);
    const long = rest(server, "c".repeat(64), "list_programs", {});
    await waitFor(async () => expect((await rest(server, token, "list_programs", {})).status).toBe(503));
    const seen = await scrape();
    expect(seen.value("programme_http_requests_in_flight")).toBe(1);
    expect(seen.value("programme_http_requests_total", { surface: "rest", status: "503" })).toBeGreaterThan(0);
    going.resolve(undefined);
    await long;
  });

  test("is not loaded by default, nor are traces", () => {
    const start = (environment: Record<string, string>) =>
      listLoadedPackages(
        `const { createApp } = await import("./src/app/app.ts");
        const { loadConfig } = await import("./src/config/load.ts");
        const settings = { PROGRAMME_DATABASE: ":memory:", PROGRAMME_LOG_LEVEL: "silent" };
        const { PROGRAMME_METRICS = "" } = process.env;
        const app = await createApp(loadConfig({ ...settings, PROGRAMME_METRICS }));
        await app.close();`,
        environment,
      );
    const plain = start({});
    expect(plain).toContain("pino");
    expect([...plain].filter((name) => /prom-client|opentelemetry/.test(String(name)))).toEqual([]);
    const watched = start({ PROGRAMME_METRICS: "127.0.0.1:0", OTEL_EXPORTER_OTLP_ENDPOINT: "http://127.0.0.1:9" });
    expect([...watched]).toEqual(expect.arrayContaining(["prom-client", "@opentelemetry/sdk-trace"]));
  });
});

test("every label has a closed list of values", async () => {
  const metrics = createMetrics(["list_programs"]);
  const request = { requestId: "req_1", transport: "tcp" } as const;
  for (const name of ["made_up_1", "made_up_2"]) {
    metrics.work({ kind: "tool", name, ...request }, { code: name }, 1);
    metrics.work({ kind: "mcp", method: name, ...request }, { code: name }, 1);
    metrics.work({ kind: "operation", name, surface: "rest", requestId: "req_1" }, { code: name, status: 200 }, 1);
    metrics.work({ kind: "upstream", method: "GET", origin: "https://example.org" }, { code: name }, 1);
  }
  for (const code of Object.keys(errorCatalog))
    metrics.work({ kind: "tool", name: "list_programs", ...request }, { code }, 1);
  const { text } = await metrics.render();
  expect(text).not.toContain("made_up");
  expect(text).toContain('programme_tool_calls_total{tool="other",outcome="other"} 2');
  expect(text).toContain('programme_tool_calls_total{tool="list_programs",outcome="rate_limited"} 1');
});
