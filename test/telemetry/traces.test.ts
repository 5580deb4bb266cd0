import { describe, expect, onTestFinished, test, vi } from "vitest";
import { isTracingConfigured, readSampling } from "../../src/telemetry/environment.ts";
import { rest, send, sendToolCall } from "../support/clients/raw-http.ts";
import { openRemote } from "../support/servers/remote-server.ts";
import { openTestServer, type TestServer } from "../support/servers/test-server.ts";
import { waitFor } from "../support/wait.ts";
import { openMisbehaving } from "../upstream/misbehaving-proxy.ts";
import { type Collector, openCollector } from "./collector.ts";

const traceId = "4bf92f3577b34da6a3ce929d0e0e4736";
const parentId = "00f067aa0ba902b7";
const traceparent = `00-${traceId}-${parentId}-01`;

/** Opens a collector, configured by the standard variables. */
async function traced(environment: Record<string, string> = {}): Promise<Collector> {
  const collector = await openCollector();
  vi.stubEnv("OTEL_EXPORTER_OTLP_ENDPOINT", collector.endpoint);
  vi.stubEnv("OTEL_BSP_SCHEDULE_DELAY", "50");
  for (const [name, value] of Object.entries(environment)) vi.stubEnv(name, value);
  onTestFinished(() => void vi.unstubAllEnvs());
  return collector;
}

async function openTracedServer(
  environment: Record<string, string> = {},
): Promise<{ collector: Collector; server: TestServer }> {
  const collector = await traced(environment);
  const { server: testServer, close } = await openTestServer();
  onTestFinished(close);
  return { collector, server: testServer };
}

/** Sends a tool call as clients of 2026-07-28 do, with `_meta`. */
function call(
  testServer: Pick<TestServer, "origin">,
  token: string,
  name: string,
  args: object,
  meta: object,
  headers = {},
) {
  return sendToolCall(testServer, token, { name, arguments: args }, { meta, headers });
}

describe("a tool call", () => {
  test("continues the trace of its `_meta`, down to the transaction, and links its HTTP request", async () => {
    const { collector, server: testServer } = await openTracedServer();
    const person = { kinds: ["contact"], provenance: { source: "crm" }, primaryEmail: "ada@example.org" };
    await call(testServer, await testServer.token(), "create_person", person, { traceparent, tracestate: "vendor=1" });
    const trace = await collector.trace("tools/call create_person");
    const tool = trace.get("tools/call create_person");
    const pipeline = trace.get("pipeline.execute create_person");
    const transaction = trace.get("transaction");
    expect(tool).toMatchObject({
      traceId,
      parentSpanId: parentId,
      kind: 2,
      status: 0,
      attributes: {
        "mcp.method.name": "tools/call",
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.name": "create_person",
        "network.transport": "tcp",
        "programme.outcome": "ok",
      },
    });
    expect(pipeline?.parentSpanId).toBe(tool?.spanId);
    expect(transaction).toMatchObject({
      parentSpanId: pipeline?.spanId,
      kind: 3,
      attributes: { "db.system.name": expect.stringMatching(/^(sqlite|postgresql)$/) },
    });
    const http = await collector.trace("POST mcp");
    expect(http.get("POST mcp")?.traceId).not.toBe(traceId);
    expect(tool?.links).toEqual([http.get("POST mcp")?.spanId]);
  });

  test("without a trace of its own continues that of its HTTP request", async () => {
    const { collector, server: testServer } = await openTracedServer();
    await call(testServer, await testServer.token(), "list_programs", {}, {}, { traceparent });
    const trace = await collector.trace("tools/call list_programs");
    expect(trace.get("POST mcp")).toMatchObject({ traceId, parentSpanId: parentId });
    expect(trace.get("tools/call list_programs")).toMatchObject({
      parentSpanId: trace.get("POST mcp")?.spanId,
      links: [],
    });
  });

  test("that is refused has the error status of the convention for tools", async () => {
    const { collector, server: testServer } = await openTracedServer();
    await call(testServer, await testServer.token(), "get_program", { programId: "prg_none" }, {});
    const trace = await collector.trace("tools/call get_program");
    expect(trace.get("tools/call get_program")).toMatchObject({
      status: 2,
      attributes: { "error.type": "tool_error", "programme.outcome": "not_found" },
    });
    // For the service, a refusal is an answer like any other.
    expect(trace.get("pipeline.execute get_program")).toMatchObject({
      status: 0,
      attributes: { "http.response.status_code": 404 },
    });
  });

  test.each([
    ["no trace context", "garbage"],
    ["a trace of noughts", `00-${"0".repeat(32)}-${parentId}-01`],
    ["a number", 7],
    ["something endless", "0".repeat(100_000)],
  ])("is answered whatever its `_meta` says: %s", async (_, given) => {
    const { collector, server: testServer } = await openTracedServer();
    const answer = await call(testServer, await testServer.token(), "list_programs", {}, { traceparent: given });
    expect(answer.status).toBe(200);
    const trace = await collector.trace("tools/call list_programs");
    expect(trace.get("tools/call list_programs")?.parentSpanId).toBe(trace.get("POST mcp")?.spanId);
  });
});

test("a REST request continues the trace of its header, and its span is named by the route", async () => {
  const { collector, server: testServer } = await openTracedServer();
  const { programId } = await testServer.seed.program();
  await rest(testServer, await testServer.token(), "get_program", { programId }, { traceparent });
  const trace = await collector.trace("GET /integrations/v1/programs/{programId}");
  expect(trace.get("GET /integrations/v1/programs/{programId}")).toMatchObject({
    traceId,
    parentSpanId: parentId,
    kind: 2,
    attributes: {
      "http.request.method": "GET",
      "http.route": "/integrations/v1/programs/{programId}",
      "http.response.status_code": 200,
    },
  });
  expect(trace.has("pipeline.execute get_program")).toBe(true);
});

test("each attempt to a remote service sends the trace context without the caller's baggage", async () => {
  const collector = await traced();
  const { server: testServer, close } = await openTestServer();
  onTestFinished(close);
  const proxy = await openMisbehaving(testServer.origin);
  onTestFinished(() => proxy.close());
  const app = await openRemote(proxy.origin);
  onTestFinished(() => app.close());
  const server = await app.listen();
  let failures = 1;
  proxy.behave(() => (failures-- > 0 ? ({ response }) => void response.writeHead(503).end() : undefined));
  const meta = { traceparent, tracestate: "vendor=1", baggage: "user=ada@example.org" };
  await call(server, await testServer.token(), "list_programs", {}, meta);

  const trace = await collector.trace("tools/call list_programs");
  const tool = trace.get("tools/call list_programs");
  const tries = collector.spans.filter(({ name, kind }) => name === "GET" && kind === 3);
  expect(tries.map(({ parentSpanId, status }) => [parentSpanId, status])).toEqual([
    [tool?.spanId, 2],
    [tool?.spanId, 0],
  ]);
  expect(proxy.requests.map(({ headers }) => headers["traceparent"])).toEqual(
    tries.map(({ spanId }) => `00-${traceId}-${spanId}-01`),
  );
  expect(proxy.requests.map(({ headers }) => [headers["tracestate"], headers["baggage"]])).toEqual([
    ["vendor=1", undefined],
    ["vendor=1", undefined],
  ]);
  // The remote service continues the trace.
  await waitFor(() =>
    expect(
      collector.spans.some(
        ({ name, parentSpanId }) =>
          name.startsWith("GET /integrations/v1/programs") && parentSpanId === tries[1]?.spanId,
      ),
    ).toBe(true),
  );
});

test("a webhook delivery has its own trace", async () => {
  const { collector, server: testServer } = await openTracedServer();
  const { programId } = await testServer.seed.program();
  const token = await testServer.token();
  await rest(testServer, token, "create_export", { programId }, { traceparent });
  await testServer.app.exports?.step();
  const trace = await collector.trace("deliver export");
  expect(trace.get("deliver export")).toMatchObject({ kind: 4, status: 0, parentSpanId: "" });
  expect(trace.get("deliver export")?.traceId).not.toBe(traceId);
  expect(trace.get("transaction")?.parentSpanId).toBe(trace.get("deliver export")?.spanId);
});

test("no span attribute contains a token, an address, an argument or a record id", async () => {
  const { collector, server: testServer } = await openTracedServer();
  const token = await testServer.token();
  const { programId } = await testServer.seed.program();
  const secret = "ada.marsh@example.org";
  await call(testServer, token, "list_persons", { q: secret }, { traceparent, baggage: `user=${secret}` });
  await call(testServer, token, "get_program", { programId }, {});
  const person = { kinds: ["applicant"], provenance: { source: "test" }, primaryEmail: secret };
  expect((await rest(testServer, token, "create_person", person)).status).toBe(201);
  await send(`${testServer.origin}/invitations/${"ab".repeat(32)}?email=${secret}`, {});
  await collector.trace("GET invitation");
  await collector.trace("tools/call get_program");
  const all = collector.bodies.join("");
  for (const hidden of [token, token.slice(0, 12), "marsh", programId, "ab".repeat(32)])
    expect(all).not.toContain(hidden);
});

test("spans have the service's name and resource attributes, and are flushed at shutdown", async () => {
  const collector = await traced({
    OTEL_BSP_SCHEDULE_DELAY: "60000",
    OTEL_RESOURCE_ATTRIBUTES: "deployment.environment.name=test",
    OTEL_EXPORTER_OTLP_HEADERS: "x-key=abc",
  });
  const { server: testServer, close } = await openTestServer();
  await rest(testServer, await testServer.token(), "list_programs", {});
  expect(collector.spans).toEqual([]);
  await close();
  expect(collector.spans.map(({ name }) => name)).toContain("pipeline.execute list_programs");
  expect(collector.resources[0]).toMatchObject({
    "service.name": "programme-mcp",
    "service.version": expect.stringMatching(/^\d/),
    "deployment.environment.name": "test",
  });
  expect(collector.requests[0]).toMatchObject({ path: "/v1/traces", headers: { "x-key": "abc" } });
});

test("an unsampled caller is not traced, and a failing collector has no effect", async () => {
  const { collector, server: testServer } = await openTracedServer();
  await call(
    testServer,
    await testServer.token(),
    "list_programs",
    {},
    { traceparent: `00-${traceId}-${parentId}-00` },
  );
  await call(testServer, await testServer.token(), "list_persons", {}, {});
  await collector.trace("tools/call list_persons");
  expect(collector.spans.map(({ name }) => name)).not.toContain("tools/call list_programs");

  vi.stubEnv("OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:9");
  const other = await openTestServer();
  expect((await rest(other.server, await other.server.token(), "list_programs", {})).status).toBe(200);
  await other.close();
});

describe("the standard variables", () => {
  test.each([
    [{}, false],
    [{ OTEL_EXPORTER_OTLP_ENDPOINT: "http://x" }, true],
    [{ OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: "http://x" }, true],
    [{ OTEL_EXPORTER_OTLP_ENDPOINT: "http://x", OTEL_SDK_DISABLED: "TRUE" }, false],
    [{ OTEL_EXPORTER_OTLP_ENDPOINT: "http://x", OTEL_TRACES_EXPORTER: "none" }, false],
    [{ OTEL_TRACES_EXPORTER: "otlp" }, false],
  ])("%j: traces are sent: %s", (environment, sent) => {
    expect(isTracingConfigured(environment)).toBe(sent);
  });

  test.each([
    [{}, { parentBased: true, ratio: 1 }],
    [{ OTEL_TRACES_SAMPLER: "always_off" }, { parentBased: false, ratio: 0 }],
    [
      { OTEL_TRACES_SAMPLER: "traceidratio", OTEL_TRACES_SAMPLER_ARG: "0.25" },
      { parentBased: false, ratio: 0.25 },
    ],
    [
      { OTEL_TRACES_SAMPLER: "parentbased_traceidratio", OTEL_TRACES_SAMPLER_ARG: "7" },
      { parentBased: true, ratio: 1 },
    ],
    [{ OTEL_TRACES_SAMPLER: "nonsense" }, { parentBased: true, ratio: 1 }],
  ])("%j: %j is sampled", (environment, sampling) => {
    expect(readSampling(environment)).toEqual(sampling);
  });
});
