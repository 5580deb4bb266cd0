import type { Browser } from "playwright-core";
import { beforeAll, expect, test } from "vitest";
import { invite } from "../identity/browser-session.ts";
import type { TestServer } from "../support/servers/test-server.ts";
import { acceptInvitation, expectAccessible, openBrowserServer, openPage, takeScreenshots } from "./browser.ts";

let browser: Browser;
let server: TestServer;
let origin: string;

beforeAll(async () => {
  const opened = await openBrowserServer();
  ({ browser, server, origin } = opened);
  return opened.close;
});

const hostile = '"><img src=x onerror="document.title=1"><script>document.title=1</script>';

test("an owner makes a token, and finds no page of management that axe-core rejects", async () => {
  const page = await openPage(browser);
  const secret = await invite(server, { email: "olga@example.org", role: "owner" });
  await acceptInvitation(page, `${origin}/join/${secret}`, hostile);

  await page.goto(`${origin}/access/tokens/new`);
  await expectAccessible(page);
  await page.getByLabel("Name", { exact: true }).fill(hostile);
  await page.getByRole("button", { name: /make|create/i }).click();
  await expectAccessible(page);
  expect(await page.locator("main").textContent()).toMatch(/[0-9a-f]{64}/);
  await page.goto(`${origin}/access/people/new`);
  await expectAccessible(page);

  for (const path of ["/access", "/integrations", "/audit", "/reference", "/approvals", "/programmes", "/account"]) {
    const answer = await page.goto(origin + path);
    expect([path, answer?.status()]).toEqual([path, 200]);
    await expectAccessible(page);
    expect(await page.title()).not.toBe("1");
    await takeScreenshots(page, path.slice(1));
  }
  const links = await page.goto(`${origin}/reference`).then(() => page.locator("main a").all());
  expect(links.length).toBeGreaterThan(58);
  await links[3]?.click();
  await expectAccessible(page);
  await page.goto(`${origin}/integrations`);
  for (const link of await page
    .locator("main a")
    .evaluateAll((found) => found.map((each) => each.getAttribute("href")))) {
    if (!link?.startsWith("/integrations")) continue;
    await page.goto(origin + link);
    await expectAccessible(page);
  }
  await page.context().close();
});
