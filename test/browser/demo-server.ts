import { issueToken } from "../../src/app/access/issue-token.ts";
import { createApp } from "../../src/app/app.ts";
import { loadConfig } from "../../src/config/load.ts";
import { scopes } from "../../src/contract/access/scopes.ts";
import { seedDemo } from "../../src/demo/seed.ts";
import { temporaryDirectory } from "../support/processes/directory.ts";
import { openTestServer, TestClock } from "../support/servers/test-server.ts";
import { launchBrowser } from "./browser.ts";

/** Starts a browser and a service with the demonstration data, whose texts would run or mislead if they were not escaped. */
export async function openDemoServer(environment: Record<string, string> = {}) {
  const clock = new TestClock();
  const directory = await temporaryDirectory();
  const database = `${directory.path}/demo.db`;
  const app = await createApp(loadConfig({ PROGRAMME_DATABASE: database }), { clock });
  await seedDemo(app.store, app.content, { now: clock.now() });
  const [business] = await app.store.listBusinesses();
  await app.close();
  const opened = await openTestServer({ PROGRAMME_DATABASE: database, ...environment }, { clock });
  const businessId = business?.businessId ?? "";
  const token = async () =>
    (await issueToken(opened.server.app.store, { businessId, name: "Assistant", scopes, expiresAt: null })).token;
  const server = { ...opened.server, businessId, token };
  const browser = await launchBrowser();
  async function close(): Promise<void> {
    await browser.close();
    await opened.close();
    await directory.remove();
  }
  return { browser, server, origin: server.origin.replace("127.0.0.1", "localhost"), close };
}
