import type { Browser, Page } from "playwright-core";
import { beforeAll, expect, test } from "vitest";
import { issueToken } from "../../src/app/access/issue-token.ts";
import { createApp } from "../../src/app/app.ts";
import { loadConfig } from "../../src/config/load.ts";
import { scopes } from "../../src/contract/access/scopes.ts";
import { seedDemo } from "../../src/demo/seed.ts";
import type { Row } from "../../src/store/tables.ts";
import { invite } from "../identity/browser-session.ts";
import { clients } from "../support/clients/clients.ts";
import { temporaryDirectory } from "../support/processes/directory.ts";
import { openTestServer, TestClock, type TestServer } from "../support/servers/test-server.ts";
import { acceptInvitation, expectAccessible, launchBrowser, openPage, takeScreenshots } from "./browser.ts";

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
  const opened = await openTestServer({ PROGRAMME_DATABASE: database, PROGRAMME_CONFIRM: "human" }, { clock });
  const businessId = business?.businessId ?? "";
  server = { ...opened.server, businessId, token: () => issueDemoToken(opened.server, businessId) };
  origin = server.origin.replace("127.0.0.1", "localhost");
  browser = await launchBrowser();
  return async () => {
    await browser.close();
    await opened.close();
    await directory.remove();
  };
});

async function issueDemoToken({ app }: TestServer, businessId: string): Promise<string> {
  return (await issueToken(app.store, { businessId, name: "Assistant", scopes, expiresAt: null })).token;
}

async function signIn(page: Page, email = "olga@example.org"): Promise<void> {
  const secret = await invite(server, { email, role: "owner" });
  await acceptInvitation(page, `${origin}/join/${secret}`);
}

/** Opens pages with the texts of the demonstration data that would run, load or mislead if they were not escaped. */
test("people look through the programmes, whose hostile texts do nothing", async () => {
  const page = await openPage(browser);
  const foreign: string[] = [];
  page.on("request", (request) => {
    if (!request.url().startsWith(origin)) foreign.push(request.url());
  });
  page.on("dialog", (dialog) => {
    throw new Error(`A text of the data ran: ${dialog.message()}`);
  });
  await signIn(page);
  await page.goto(origin);
  await expectAccessible(page);
  await takeScreenshots(page, "console-today");
  await page.getByRole("link", { name: "Submissions to screen" }).first().click();
  // The address leads into a closed part, which the browser opens.
  await page.locator("#unscreened table").waitFor();
  await expectAccessible(page);
  await takeScreenshots(page, "console-programme");

  await page.getByRole("link", { name: "Submissions", exact: true }).click();
  await expectAccessible(page);
  await takeScreenshots(page, "console-submissions");
  await page.getByLabel("State").selectOption("WITHDRAWN");
  await page.getByRole("button", { name: "Filter" }).click();
  await page.waitForURL(/state=WITHDRAWN/);
  await page.getByLabel("Words in a title").fill("warm roof library");
  await page.keyboard.press("Enter");
  await page.waitForURL(/words=warm/);
  await page.getByRole("link", { name: "<script>alert" }).click();
  await page.getByRole("heading", { name: "<script>alert" }).waitFor();
  expect(await page.locator("main script, main img, main a[href^=javascript]").count()).toBe(0);
  await expectAccessible(page);
  await takeScreenshots(page, "console-submission");

  await page.getByRole("link", { name: "Common Ground Fund 2026: submissions" }).click();
  await page.getByRole("link", { name: "Reviewers" }).click();
  await expectAccessible(page);
  await page.getByRole("link", { name: "Scores" }).click();
  await page.locator("svg").first().waitFor();
  await expectAccessible(page);
  await takeScreenshots(page, "console-scores", { fullPage: false });
  expect(foreign).toEqual([]);
  await page.context().close();
});

test("an approval appears on the first page by itself, and the keyboard reaches it", async () => {
  const page = await openPage(browser);
  await signIn(page, "rita@example.org");
  await page.goto(origin);
  await page.getByText("Nothing waits for approval.").waitFor();
  const { businessId } = server;
  const [submission] = await server.app.store
    .reader(businessId)
    .find("submissions", { where: { state: "IN_REVIEW" } }, { limit: 1 });
  await requestElimination(submission);
  const link = page.getByRole("link", { name: /eliminate/i });
  await link.waitFor();
  await page.keyboard.press("Tab");
  expect(await page.evaluate("document.activeElement.textContent")).toBe("Skip to the content");
  await page.keyboard.press("Enter");
  await page.keyboard.press("Tab");
  expect(await page.evaluate("document.activeElement.textContent")).toMatch(/eliminate/i);
  await page.keyboard.press("Enter");
  await page.waitForURL(/\/approvals\/apr_/);
  await page.context().close();
});

/** Asks for an elimination as an agent whose host cannot ask. */
async function requestElimination(submission: Row<"submissions"> | undefined): Promise<void> {
  const connect = clients["2026-07-28 over HTTP"];
  const agent = await connect?.(server, await server.token());
  const { submissionId, version } = submission ?? {};
  await agent?.call("eliminate_submission", { submissionId, version, reason: "Out of scope" });
}
