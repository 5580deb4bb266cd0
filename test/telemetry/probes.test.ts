import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { failuresToOpen } from "../../src/upstream/remote/circuit-breaker.ts";
import { send } from "../support/clients/raw-http.ts";
import { edit } from "../support/data/edit.ts";
import { temporaryDirectory } from "../support/processes/directory.ts";
import { openRemote } from "../support/servers/remote-server.ts";
import { openTestServer, type TestClock } from "../support/servers/test-server.ts";
import { waitFor } from "../support/wait.ts";
import { openMisbehaving } from "../upstream/misbehaving-proxy.ts";

const ask = (origin: string, path = "/readyz") => send(`${origin}${path}`, { headers: { host: "10.0.0.7" } });

async function newFile(): Promise<string> {
  const directory = await temporaryDirectory();
  onTestFinished(() => directory.remove());
  return join(directory.path, "programme.db");
}

/** Advances the clock past the cache of the readiness check. */
const later = (clock: TestClock) => clock.advance(1_000);

describe("/readyz", () => {
  test("is ready once the workers run, until the program drains", async () => {
    const { server, close } = await openTestServer();
    onTestFinished(close);
    const before = await ask(server.origin);
    expect([before.status, before.body]).toEqual([
      503,
      { status: "not_ready", checks: { database: "ok", workers: "idle", key: "ok" } },
    ]);
    server.app.startWorkers();
    later(server.clock);
    const ready = await ask(server.origin);
    expect([ready.status, ready.body]).toEqual([
      200,
      { status: "ready", checks: { database: "ok", workers: "running", key: "ok" } },
    ]);
    expect(ready.headers.get("cache-control")).toBe("no-store");

    server.app.drain();
    const draining = await ask(server.origin);
    expect([draining.status, draining.body.status]).toEqual([503, "draining"]);
    // Alive, and still answering callers.
    expect((await ask(server.origin, "/healthz")).status).toBe(200);
    const authorization = `Bearer ${await server.token()}`;
    expect((await send(`${server.origin}/integrations/v1/programs`, { headers: { authorization } })).status).toBe(200);
  });

  test("is not ready while the database does not answer, without details", async () => {
    const { server, close } = await openTestServer();
    onTestFinished(close);
    server.app.startWorkers();
    const check = vi
      .spyOn(server.app.store, "check")
      .mockRejectedValue(new Error("connect ECONNREFUSED 10.1.2.3:5432"));
    const failed = await ask(server.origin);
    expect([failed.status, failed.body.checks.database]).toEqual([503, "failed"]);
    expect(failed.text).not.toContain("10.1.2.3");
    expect((await ask(server.origin, "/healthz")).status).toBe(200);
    check.mockRestore();
    later(server.clock);
    expect((await ask(server.origin)).status).toBe(200);
  });

  test("queries the database at most once a second", async () => {
    const { server, close } = await openTestServer();
    onTestFinished(close);
    const check = vi.spyOn(server.app.store, "check");
    await Promise.all(Array.from({ length: 50 }, () => ask(server.origin)));
    expect(check).toHaveBeenCalledTimes(1);
    later(server.clock);
    await ask(server.origin);
    expect(check).toHaveBeenCalledTimes(2);
  });

  test("is not ready when the encryption key cannot be read", async () => {
    const database = await newFile();
    await writeFile(`${database}.key`, "no key");
    const { server, close } = await openTestServer({ PROGRAMME_DATABASE: database });
    onTestFinished(close);
    const { status, body } = await ask(server.origin);
    expect([status, body.checks.key]).toEqual([503, "failed"]);
  });

  test("is not ready while migrations are missing, but is after a later version's migrations", async () => {
    const database = await newFile();
    const { server, close } = await openTestServer({ PROGRAMME_DATABASE: database });
    onTestFinished(close);
    server.app.startWorkers();
    await edit(
      database,
      "insert into migrations (name, \"appliedAt\") values ('999_later', '2030-01-01T00:00:00.000Z')",
    );
    expect((await ask(server.origin)).status).toBe(200);
    await edit(database, "delete from migrations where name like '001%'");
    later(server.clock);
    const { status, body } = await ask(server.origin);
    expect([status, body.checks.database]).toEqual([503, "failed"]);
  });

  test("reports a failing remote service, but stays ready", async () => {
    const { server, close } = await openTestServer();
    onTestFinished(close);
    const proxy = await openMisbehaving(server.origin);
    onTestFinished(() => proxy.close());
    const app = await openRemote(proxy.origin, {}, { clock: server.clock });
    onTestFinished(() => app.close());
    const { origin } = await app.listen();
    app.startWorkers();
    expect((await ask(origin)).body).toEqual({
      status: "ready",
      checks: { database: "ok", workers: "running", key: "ok", upstream: "closed" },
    });
    proxy.behave(
      () =>
        ({ response }) =>
          void response.writeHead(503).end(),
    );
    const token = await server.token();
    const call = () => app.upstream.call({ operation: "list_programs", input: {}, token, requestId: "req_x" });
    await Promise.all(Array.from({ length: failuresToOpen }, call));
    later(server.clock);
    const answer = await ask(origin);
    expect([answer.status, answer.body.checks.upstream]).toEqual([200, "open"]);
    // After its pause, the breaker permits the next call.
    server.clock.advance(120_000);
    expect((await ask(origin)).body.checks.upstream).toBe("half_open");
    proxy.behave(() => undefined);
    expect((await call()).ok).toBe(true);
    later(server.clock);
    expect((await ask(origin)).body.checks.upstream).toBe("closed");
  });
});

test("probes are answered while all request slots are taken", async () => {
  const { server, close } = await openTestServer({ PROGRAMME_MAX_CONCURRENT_REQUESTS: "1" });
  onTestFinished(close);
  const ending = new AbortController();
  const body = new ReadableStream({
    start: (controller) => controller.enqueue(new TextEncoder().encode("{")),
  });
  const request: RequestInit & { duplex: "half" } = {
    method: "POST",
    headers: { authorization: `Bearer ${await server.token()}`, "content-type": "application/json" },
    body,
    duplex: "half",
    signal: ending.signal,
  };
  const slow = fetch(`${server.origin}/integrations/v1/persons`, request).catch(() => undefined);
  await waitFor(async () => expect((await ask(server.origin, "/integrations/v1/programs")).status).toBe(503));
  expect((await ask(server.origin, "/healthz")).status).toBe(200);
  expect((await ask(server.origin)).body.checks.database).toBe("ok");
  ending.abort();
  await slow;
});
