import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { pino } from "pino";
import { expect, onTestFinished, test, vi } from "vitest";
import { createClientDocuments } from "../../src/identity/client-documents.ts";
import { createSignInAudit } from "../../src/pipeline/users/sign-in-audit.ts";
import { openTestServer } from "../support/servers/test-server.ts";

test("sign-in reports nothing to anybody, whatever the variables of its library say", async () => {
  const received: string[] = [];
  const collector = createServer((request, response) => {
    received.push(request.url ?? "");
    response.end("{}");
  });
  await new Promise<void>((resolve) => collector.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void collector.close());
  const endpoint = `http://127.0.0.1:${(collector.address() as AddressInfo).port}/`;
  vi.stubEnv("BETTER_AUTH_TELEMETRY", "true");
  vi.stubEnv("BETTER_AUTH_TELEMETRY_ENDPOINT", endpoint);
  // The library is silent in tests of its own accord.
  vi.stubEnv("NODE_ENV", "production");
  vi.stubEnv("TEST", "");
  onTestFinished(() => void vi.unstubAllEnvs());

  const { createAuth } = await import("../../src/identity/auth.ts");
  const { server, close } = await openTestServer();
  const log = pino({ level: "silent" });
  const { users } = server.app.store;
  const audit = createSignInAudit(server.app.store, server.clock);
  const documents = createClientDocuments(async () => undefined, server.clock);
  const apps = { documents, getResource: (origin: string) => `${origin}/mcp` };
  const origin = "http://localhost:3000";
  const auth = createAuth(origin, { users, audit, log, secret: "s".repeat(32), provider: undefined, ...apps });
  const { publishTelemetry } = await auth.$context;
  await publishTelemetry({ type: "test", payload: {} });
  expect(received).toEqual([]);
  await close();
});
