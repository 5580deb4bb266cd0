import type { Browser, Page } from "playwright-core";
import { beforeAll, expect, test } from "vitest";
import { invite } from "../identity/browser-session.ts";
import type { TestServer } from "../support/servers/test-server.ts";
import { acceptInvitation, expectAccessible, openPage, takeScreenshots } from "./browser.ts";
import { openDemoServer } from "./demo-server.ts";

let browser: Browser;
let server: TestServer;
let origin: string;

beforeAll(async () => {
  const opened = await openDemoServer();
  ({ browser, server, origin } = opened);
  return opened.close;
});

const hostile = '"><img src=x onerror="document.title=1"><script>document.title=1</script>';
const narrow = { width: 390, height: 844 };

async function signIn(page: Page, email: string, name: string): Promise<void> {
  const secret = await invite(server, { email, role: "owner", seesSensitive: true });
  await acceptInvitation(page, `${origin}/join/${secret}`, name);
}

/** Expects that a page needs no scrolling to the side on the screen of a phone. Wide tables scroll within the page. */
async function expectNarrow(page: Page, path: string): Promise<void> {
  const size = page.viewportSize() ?? narrow;
  await page.setViewportSize(narrow);
  expect([path, await page.evaluate("document.documentElement.scrollWidth")]).toEqual([path, narrow.width]);
  await takeScreenshots(page, `narrow${path.replaceAll("/", "-")}`);
  await page.setViewportSize(size);
}

test("axe-core rejects no page of management, and none needs scrolling to the side on a phone", async () => {
  const page = await openPage(browser);
  await signIn(page, "olga@example.org", "Olga Owner");
  const { businessId, app } = server;
  await app.webhooks?.endpoints.add(businessId, "https://crm.example.net/programme-events", []);
  await app.portalServices?.mailAdmin.suppress(businessId, "noor@example.org", "unsubscribed");
  await server.token();
  await invite(server, { email: "rita@example.org", role: "staff" });
  const visit = async (path: string) => {
    const answer = await page.goto(origin + path);
    expect([path, answer?.status()]).toEqual([path, 200]);
    await expectAccessible(page);
    await takeScreenshots(page, path.slice(1).replaceAll("/", "-") || "today", { fullPage: path !== "/audit" });
    await expectNarrow(page, path.split("?")[0] ?? path);
  };
  const management = ["/access", "/access/people/new", "/access/tokens/new", "/audit", "/integrations"];
  for (const path of [...management, "/approvals", "/programmes", "/reference", "/account", "/"]) await visit(path);
  const links = await page.goto(`${origin}/reference`).then(() => page.locator("main a").all());
  expect(links.length).toBeGreaterThan(58);
  await visit("/reference/operations/list_submissions");
  await page.goto(`${origin}/integrations`);
  const found = await page.locator("main a").evaluateAll((all) => all.map((each) => each.getAttribute("href") ?? ""));
  for (const link of found.filter((each) => each.startsWith("/integrations"))) await visit(link);
  await page.context().close();
});

test("an owner makes a token, suppresses an address, and meets no hostile name that runs", async () => {
  const page = await openPage(browser);
  await signIn(page, "hostile@example.org", hostile);
  await page.goto(`${origin}/access/tokens/new`);
  await page.getByLabel("Name", { exact: true }).fill(hostile);
  await page.getByRole("button", { name: /make|create/i }).click();
  await expectAccessible(page);
  expect(await page.locator("main").textContent()).toMatch(/[0-9a-f]{64}/);

  await page.goto(`${origin}/integrations/mail/suppressed`);
  await page.getByLabel("E-mail address").fill("noor@example.org");
  await page.keyboard.press("Enter");
  await page.getByText("Nothing more is sent to the address.").waitFor();
  await page.getByText("Allow noor@example.org").first().click();
  await expectAccessible(page);
  await page.getByRole("button", { name: "Allow noor@example.org" }).click();
  await page.getByText("Mail is sent to the address again.").waitFor();
  for (const path of ["/", "/access", "/audit"]) {
    await page.goto(origin + path);
    expect(await page.title()).not.toBe("1");
  }
  await page.context().close();
});
