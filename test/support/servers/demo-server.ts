import { onTestFinished } from "vitest";
import { issueToken } from "../../../src/app/access/issue-token.ts";
import { createApp } from "../../../src/app/app.ts";
import { loadConfig } from "../../../src/config/load.ts";
import { type Scope, scopes } from "../../../src/contract/access/scopes.ts";
import { seedDemo } from "../../../src/demo/seed.ts";
import { temporaryDirectory } from "../processes/directory.ts";
import { openTestServer, TestClock, type TestServer } from "./test-server.ts";

/** A service with the demonstration data, as the organisation whose fund is underway. */
export async function openDemoServer(environment: Record<string, string> = {}): Promise<TestServer> {
  const clock = new TestClock();
  const directory = await temporaryDirectory();
  const PROGRAMME_DATABASE = `${directory.path}/demo.db`;
  // Only an empty database takes the data, and a test's service begins with an organisation of its own.
  const app = await createApp(loadConfig({ PROGRAMME_DATABASE }), { clock });
  await seedDemo(app.store, app.content, { now: clock.now() });
  const businesses = await app.store.listBusinesses();
  const businessId = businesses.find(({ name }) => name === "Aldersund Foundation")?.businessId ?? "";
  await app.close();
  const { server, close } = await openTestServer({ PROGRAMME_DATABASE, ...environment }, { clock });
  onTestFinished(async () => {
    await close();
    await directory.remove();
  });
  const token = async (granted: readonly Scope[] = scopes) =>
    (await issueToken(server.app.store, { businessId, name: "Assistant", scopes: granted, expiresAt: null })).token;
  return {
    ...server,
    businessId,
    token,
    as: async (surface, granted) => server.with(surface, await token(granted)),
  };
}
