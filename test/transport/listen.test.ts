import { pino } from "pino";
import { expect } from "vitest";
import { listenMethod } from "../../src/transport/server-info.ts";
import { createListening } from "../../src/transport/sessions/listen.ts";
import type { Upstream, Watcher } from "../../src/upstream/port.ts";
import { type TestServer, tenantTest as test } from "../support/servers/test-server.ts";
import { waitFor } from "../support/wait.ts";

const uri = "programme://programs";

/** Opens a stream over a watcher that the test notifies itself. */
async function listen(server: TestServer, watched = true) {
  const watchers: Watcher[] = [];
  const { watch: _, ...rest } = server.app.upstream;
  const stopped: string[] = [];
  const upstream: Upstream = watched
    ? {
        ...rest,
        async watch(token, watcher) {
          watchers.push(watcher);
          const { scopes } = await rest.identify(token);
          return { scopes, stop: () => void stopped.push("stopped") };
        },
      }
    : rest;
  const factory = server.app.mcpServer(undefined);
  const listening = createListening({
    factory,
    upstream,
    disabledBySetting: () => undefined,
    log: pino({ level: "silent" }),
  });
  const token = await server.token();
  const meta = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientCapabilities": {},
  };
  const params = { notifications: { resourceSubscriptions: [uri] }, _meta: meta };
  const body = { jsonrpc: "2.0", id: 1, method: listenMethod, params };
  const headers = {
    "content-type": "application/json",
    accept: "application/json, text/event-stream",
    "mcp-protocol-version": "2026-07-28",
    "mcp-method": listenMethod,
  };
  const request = new Request("http://localhost/mcp", { method: "POST", headers, body: JSON.stringify(body) });
  const response = await listening.open(request, body, { token, clientId: "one", scopes: [] });
  return { response, watchers, stopped, listening };
}

const change = { entityType: "program", entityId: "prg_1", programId: "prg_1", submissionId: null };

test("the stream of a client that does not read is closed once its buffer is full", async ({ server }) => {
  const { response, watchers, stopped } = await listen(server);
  for (let times = 0; times < 1_500; times++) watchers[0]?.changed([change]);
  await waitFor(() => expect(stopped).toEqual(["stopped"]));
  const frames = (await response.text()).match(/notifications\/resources\/updated/g) ?? [];
  expect(frames.length).toBeLessThanOrEqual(1_000);
  expect(frames.length).toBeGreaterThan(900);
});

test("a client that reads receives any number of notifications", async ({ server }) => {
  const { response, watchers, stopped, listening } = await listen(server);
  const reader = (response.body as ReadableStream<Uint8Array>).pipeThrough(new TextDecoderStream()).getReader();
  let notifications = 0;
  const reading = (async () => {
    for (let read = await reader.read(); !read.done; read = await reader.read()) {
      notifications += read.value.includes("notifications/resources/updated") ? 1 : 0;
    }
  })();
  for (let times = 0; times < 1_500; times++) {
    watchers[0]?.changed([change]);
    await new Promise((resolve) => setImmediate(resolve));
  }
  expect(stopped).toEqual([]);
  await listening.close();
  await reading;
  expect(notifications).toBe(1_500);
  await waitFor(() => expect(stopped).toEqual(["stopped"]));
});

test("subscriptions are not offered where changes cannot be followed", async ({ server }) => {
  const { response } = await listen(server, false);
  const text = await response.text();
  expect(text).toContain("notifications/subscriptions/acknowledged");
  expect(text).not.toContain(uri);
});
