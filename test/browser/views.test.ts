import type { McpUiStyles } from "@modelcontextprotocol/ext-apps";
import type { Browser } from "playwright-core";
import { beforeAll, expect, test } from "vitest";
import { openTestServer, type TestServer } from "../support/servers/test-server.ts";
import { openDemoServer } from "./demo-server.ts";
import { expectViewAccessible, openView, takeViewScreenshots } from "./view-host.ts";

let browser: Browser;
let server: TestServer;
let programId: string;

beforeAll(async () => {
  const opened = await openDemoServer();
  ({ browser, server } = opened);
  const [program] = await server.app.store
    .reader(server.businessId)
    .find("programs", { where: { lifecycleStatus: "underway" } }, { limit: 1 });
  programId = program?.programId ?? "";
  // The due dates of the first rounds have passed.
  server.clock.advance(30 * 24 * 60 * 60_000);
  return opened.close;
});

test("review progress is shown as a board with late reviews marked, and read again on request", async () => {
  const input = { programId };
  const opened = await openView(browser, server, await server.token(), { tool: "get_review_progress", input });
  const { page, view, calls, events, host } = opened;
  await view.getByRole("heading", { name: "Review progress" }).waitFor();
  await expectViewAccessible(opened);
  await takeViewScreenshots(opened, "progress");
  expect(await view.locator(".late").count()).toBeGreaterThan(0);
  expect(await view.locator("main script, main img, main a").count()).toBe(0);

  await view.getByRole("button", { name: "Only late" }).focus();
  await page.keyboard.press("Enter");
  await view.locator('button[aria-pressed="true"]:focus').waitFor();
  const cards = view.locator(".cards li");
  expect(await cards.count()).toBe(await view.locator(".cards li .late").count());

  await view.getByRole("button", { name: "Refresh" }).click();
  await expect.poll(() => calls).toEqual([{ name: "get_review_progress", arguments: input }]);
  await expect.poll(() => view.locator("#status").textContent()).toBe("");

  const variables = { "--color-text-primary": "rgb(1, 2, 3)" } as McpUiStyles;
  await host("changeContext", { theme: "dark", styles: { variables } });
  await expect.poll(() => page.frames()[1]?.evaluate("getComputedStyle(document.body).color")).toBe("rgb(1, 2, 3)");
  await host("teardown");
  expect(events.map(({ kind }) => kind)).toEqual(expect.arrayContaining(["initialized", "size", "teardown"]));
  await page.context().close();
});

const hostile = '<img src=x onerror="alert(1)"><script>alert(2)</script> ‮"><a href="javascript:alert(3)">roof';

test("hostile texts in a view run nothing, and are shown as they are", async () => {
  const opened = await openTestServer();
  const { seed } = opened.server;
  const { programId, trackId, submissionId } = await seed.submission({ state: "IN_REVIEW", title: hostile });
  const { roundId } = await seed.round({ programId, trackId });
  const { reviewerId } = await seed.reviewer({ lastName: hostile });
  await seed.assignment({ programId, trackId, submissionId, roundId, reviewerId });
  const { page, view } = await openView(browser, opened.server, await opened.server.token(), {
    tool: "get_review_progress",
    input: { programId },
  });
  await view.locator("main").getByText("onerror=").first().waitFor();
  expect(await view.locator("main script, main img, main a").count()).toBe(0);
  await page.context().close();
  await opened.close();
});

test("a view shows a refusal with what to do next, and what a host without tool calls allows", async () => {
  const { page, view, callAgain } = await openView(browser, server, await server.token(), {
    tool: "get_review_progress",
    input: { programId },
    capabilities: {},
  });
  await view.getByRole("button", { name: "Only late" }).waitFor();
  expect(await view.getByRole("button", { name: "Refresh" }).count()).toBe(0);
  await callAgain({ programId: "prg_none" });
  await view.getByRole("alert").waitFor();
  expect(await view.locator("main").textContent()).toContain("list the records");
  await callAgain({ programId, select: "rounds.name" });
  expect(await view.locator("main").textContent()).toContain("without `select`");
  await page.context().close();
});

test("scores are sorted by a column, shown with their distribution, and two submissions are compared", async () => {
  const opened = await openView(browser, server, await server.token(), {
    tool: "get_score_table",
    input: { programId },
  });
  const { page, view } = opened;
  await view.getByRole("heading", { name: "Scores: " }).waitFor();
  await takeViewScreenshots(opened, "scores");
  const means = async () => (await view.locator("tbody tr td:nth-child(5)").allTextContents()).map(Number);
  const byRank = await means();
  expect(byRank).toEqual(byRank.toSorted((a, b) => b - a));
  await view.getByRole("button", { name: "Mean" }).focus();
  await page.keyboard.press("Enter");
  await page.keyboard.press("Enter");
  await view.locator('th[aria-sort="ascending"] button:focus').waitFor();
  expect(await means()).toEqual(byRank.toReversed());

  const boxes = view.getByRole("checkbox");
  await boxes.nth(0).check();
  await boxes.nth(1).check();
  const compared = view.getByRole("region", { name: "Two submissions compared" });
  await compared.waitFor();
  await expectViewAccessible(opened);
  await view.getByLabel("Round").selectOption({ index: 1 });
  await compared.waitFor({ state: "detached" });
  await page.context().close();
});

test("a view fits a narrow host, and wide parts scroll by themselves", async () => {
  const options = { tool: "get_score_table", input: { programId }, width: 360 };
  const opened = await openView(browser, server, await server.token(), options);
  const heading = await opened.view.getByRole("heading", { name: "Scores: " }).boundingBox();
  expect(heading?.height).toBeLessThan(100);
  expect(await opened.page.frames()[1]?.evaluate("document.documentElement.scrollWidth")).toBe(360);
  await expectViewAccessible(opened);
  await opened.page.context().close();
});

test("a submission is shown with its answers, and its history as a timeline that is completed on request", async () => {
  const submission = await server.app.store
    .reader(server.businessId)
    .find("submissions", { where: { programId, state: "WINNER" } }, { limit: 1 });
  const input = { submissionId: submission[0]?.submissionId };
  const opened = await openView(browser, server, await server.token(), { tool: "get_submission_brief", input });
  const { page, view, calls } = opened;
  await view.getByRole("heading", { name: "Answers" }).waitFor();
  await takeViewScreenshots(opened, "submission");
  expect(await view.locator("main a").count()).toBe(0);
  const states = await view.locator(".timeline > li").count();
  expect(states).toBeGreaterThan(1);
  await view.getByRole("button", { name: "All changes" }).click();
  await expect.poll(() => view.locator(".timeline > li").count()).toBeGreaterThan(states);
  expect(calls).toEqual([{ name: "get_history", arguments: input }]);
  await expectViewAccessible(opened);
  await page.context().close();
});

test("a history continues with older changes", async () => {
  const input = { programId, limit: 5 };
  const opened = await openView(browser, server, await server.token(), { tool: "get_history", input });
  const { page, view, calls } = opened;
  const entries = view.locator(".timeline > li");
  await expect.poll(() => entries.count()).toBe(5);
  await view.getByRole("button", { name: "Older changes" }).click();
  await expect.poll(() => entries.count()).toBe(10);
  expect(calls).toMatchObject([{ name: "get_history", arguments: { ...input, to: expect.any(String) } }]);
  await takeViewScreenshots(opened, "history");
  await expectViewAccessible(opened);
  await page.context().close();
});
