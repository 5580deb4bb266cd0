import type { Browser, Page } from "playwright-core";
import { beforeAll, expect, test } from "vitest";
import type { Row } from "../../src/store/tables.ts";
import { invite } from "../identity/browser-session.ts";
import { clients } from "../support/clients/clients.ts";
import type { TestServer } from "../support/servers/test-server.ts";
import { acceptInvitation, expectAccessible, openPage, takeScreenshots } from "./browser.ts";
import { openDemoServer } from "./demo-server.ts";

let browser: Browser;
let server: TestServer;
let origin: string;

beforeAll(async () => {
  const opened = await openDemoServer({ PROGRAMME_CONFIRM: "human" });
  ({ browser, server, origin } = opened);
  return opened.close;
});

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
  await page.getByRole("link", { name: "Set-up" }).click();
  await page.getByRole("heading", { name: "Tracks and rounds" }).waitFor();
  expect(await page.locator("main script, main img").count()).toBe(0);
  await expectAccessible(page);
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
