import type { Browser } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { operations } from "../../src/contract/index.ts";
import { views } from "../../src/views/catalog.ts";
import { openAs } from "../identity/browser-session.ts";
import { openTestServer, type TestServer } from "../support/servers/test-server.ts";
import { launchBrowser } from "./browser.ts";
import { expectViewAccessible, type OpenedView, openView, takeViewScreenshots } from "./view-host.ts";

let browser: Browser;
const closers: (() => Promise<void>)[] = [];

beforeAll(async () => {
  browser = await launchBrowser();
});

afterAll(async () => {
  await browser.close();
  for (const close of closers) await close();
});

async function openServer(mode: "ask" | "human" = "ask"): Promise<TestServer> {
  const { server, close } = await openTestServer({ PROGRAMME_CONFIRM: mode });
  closers.push(close);
  return server;
}

const hostile = '<img src=x onerror="alert(1)"> “roof”: DRAFT → WINNER';

async function seedElimination({ seed }: TestServer, title = "A roof for the market hall") {
  const { submissionId, programId, trackId, version } = await seed.submission({ state: "IN_REVIEW", title });
  const { roundId } = await seed.round({ programId, trackId });
  const { reviewerId } = await seed.reviewer({});
  await seed.assignment({ programId, trackId, submissionId, roundId, reviewerId });
  return { submissionId, version, reason: "Outside the region" };
}

async function open(server: TestServer, tool: string, input: Record<string, unknown>, more = {}) {
  const opened = await openView(browser, server, await server.token(), { tool, input, ...more });
  await opened.view.locator("main h1, main [role=alert]").first().waitFor();
  return opened;
}

async function readState(server: TestServer, submissionId: string) {
  return (await server.app.store.reader(server.businessId).get("submissions", submissionId))?.state;
}

const getContexts = ({ events }: OpenedView) =>
  events.filter(({ kind }) => kind === "context").map(({ details }) => JSON.stringify(details));

test("each tool that can ask has a view for its question, which may call that tool again", () => {
  const asking = Object.entries(operations).flatMap(([name, operation]) => ("confirm" in operation ? [name] : []));
  for (const tool of [...asking.filter((name) => operations[name as keyof typeof operations].confirm), "run_batch"]) {
    const [view, ...others] = views.filter(({ shows }) => (shows as readonly string[]).includes(tool));
    expect([tool, view?.calls, others]).toEqual([tool, expect.arrayContaining([tool]), []]);
  }
});

test("a question shows what changes, is lost and cannot be undone; a decline with a reason does nothing", async () => {
  const server = await openServer();
  const input = await seedElimination(server);
  const opened = await open(server, "eliminate_submission", input);
  const { page, view, calls } = opened;
  await view.getByRole("heading", { name: `Eliminate submission ${input.submissionId}?` }).waitFor();
  await expectViewAccessible(opened);
  await takeViewScreenshots(opened, "question");
  expect(await view.locator("del").allTextContents()).toEqual(["IN_REVIEW"]);
  expect(await view.locator("ins").first().textContent()).toMatch(/^ELIMINATED/);
  expect(await view.locator("h2", { hasText: "What is lost" }).locator("+ ul").textContent()).toContain("unfinished");
  expect(await view.locator("h2", { hasText: "The way back" }).locator("+ ul").textContent()).toContain("Way back");
  await view.getByLabel("If you decline: why?").fill("Wait for the board");
  await view.getByRole("button", { name: "Decline" }).focus();
  await page.keyboard.press("Enter");
  await view.getByText("Declined. Nothing has been done.").waitFor();
  expect(calls).toEqual([]);
  expect(await view.getByRole("button").count()).toBe(0);
  expect(getContexts(opened)).toEqual([expect.stringContaining("Wait for the board")]);
  expect(await readState(server, input.submissionId)).toBe("IN_REVIEW");
  await page.context().close();
});

test("an approval in the view repeats the call with its token, and informs the model", async () => {
  const server = await openServer();
  const input = await seedElimination(server, hostile);
  const opened = await open(server, "eliminate_submission", input);
  const { page, view, calls } = opened;
  expect(await view.locator("main script, main img, main a").count()).toBe(0);
  // The arrow in the title is not the change.
  expect(await view.locator("del").allTextContents()).toEqual(["IN_REVIEW"]);
  await view.getByRole("button", { name: "Approve" }).click();
  await view.getByRole("heading", { name: "Done" }).waitFor();
  expect(calls).toEqual([
    { name: "eliminate_submission", arguments: { ...input, confirmation: expect.stringContaining(".") } },
  ]);
  expect(await readState(server, input.submissionId)).toBe("ELIMINATED");
  expect(getContexts(opened)).toEqual([expect.stringContaining("Do not repeat it")]);
  await page.context().close();
});

test("an approval in the view that comes too late is refused, and does nothing", async () => {
  const server = await openServer();
  const input = await seedElimination(server);
  const opened = await open(server, "eliminate_submission", input);
  server.clock.advance(6 * 60_000);
  await opened.view.getByRole("button", { name: "Approve" }).click();
  await opened.view.getByRole("alert").waitFor();
  expect(await readState(server, input.submissionId)).toBe("IN_REVIEW");
  expect(getContexts(opened)).toEqual([]);
  await opened.page.context().close();
});

test("a person leaves out a call of a batch by keyboard and approves the rest", async () => {
  const server = await openServer();
  const seeded = [await seedElimination(server), await seedElimination(server), await seedElimination(server)];
  const asked = seeded.map((args) => ({ tool: "eliminate_submission", arguments: args }));
  const opened = await open(server, "run_batch", { calls: asked });
  const { page, view } = opened;
  await expectViewAccessible(opened);
  await takeViewScreenshots(opened, "question-batch");
  await view.getByRole("checkbox").nth(1).focus();
  await page.keyboard.press("Space");
  await expect.poll(() => view.getByRole("checkbox").nth(1).isChecked()).toBe(false);
  await view.getByRole("button", { name: "Approve" }).click();
  await view.getByRole("heading", { name: "Done" }).waitFor();
  expect(await view.locator("tbody td:nth-child(2)").allTextContents()).toEqual(["Done", "Left out", "Done"]);
  const states = seeded.map(({ submissionId }) => readState(server, submissionId));
  expect(await Promise.all(states)).toEqual(["ELIMINATED", "IN_REVIEW", "ELIMINATED"]);
  await page.context().close();
});

test("a host that passes no calls shows the question without buttons", async () => {
  const server = await openServer();
  const { page, view } = await open(server, "eliminate_submission", await seedElimination(server), {
    capabilities: {},
  });
  await view.getByText("Answer this in the conversation.").waitFor();
  expect(await view.getByRole("button").count()).toBe(0);
  await page.context().close();
});

test("where people approve on a page, the view links to it, follows it, and cannot approve by itself", async () => {
  const server = await openServer("human");
  const person = await openAs(server);
  const input = await seedElimination(server);
  const opened = await open(server, "eliminate_submission", input);
  const { page, view, events, callAgain } = opened;
  expect(await view.getByRole("button", { name: "Approve", exact: true }).count()).toBe(0);
  await expectViewAccessible(opened);
  await takeViewScreenshots(opened, "question-approval");
  await view.getByRole("button", { name: "Continue after the approval" }).click();
  await view.getByText("Nobody has decided yet.").waitFor();
  expect(await readState(server, input.submissionId)).toBe("IN_REVIEW");
  expect(getContexts(opened)).toEqual([]);

  await view.getByRole("button", { name: "Open the approval" }).click();
  const findLink = () => events.findLast(({ kind }) => kind === "link")?.details as { url: string } | undefined;
  await expect.poll(findLink).toBeDefined();
  await person.submit(new URL(String(findLink()?.url)).pathname, { decision: "approve" });
  await view.getByText("Approved. Nothing has been done yet.").waitFor();
  expect(await readState(server, input.submissionId)).toBe("IN_REVIEW");
  await view.getByRole("button", { name: "Make the call" }).click();
  await view.getByRole("heading", { name: "Done" }).waitFor();
  expect(await readState(server, input.submissionId)).toBe("ELIMINATED");

  const declined = await seedElimination(server);
  await callAgain(declined);
  await view.getByRole("button", { name: "Open the approval" }).click();
  await expect.poll(() => events.filter(({ kind }) => kind === "link").length).toBe(2);
  const path = new URL(String(findLink()?.url)).pathname;
  await person.submit(path, { decision: "decline", reason: "<b>Wait</b> for the board" });
  await view.getByText("Declined. Reason: <b>Wait</b> for the board Nothing has been done.").waitFor();
  expect(await view.getByRole("button").count()).toBe(0);

  await callAgain(await seedElimination(server));
  await view.getByRole("button", { name: "Open the approval" }).waitFor();
  server.clock.advance(25 * 60 * 60_000);
  await view.getByText("Expired: nobody decided in time.").waitFor();
  expect(await readState(server, declined.submissionId)).toBe("IN_REVIEW");
  await page.context().close();
});

test("an approval that expired, in a host that reads no resources, is refused", async () => {
  const server = await openServer();
  await openAs(server);
  const input = await seedElimination(server);
  const capabilities = { serverTools: {} };
  const { page, view } = await open(server, "eliminate_submission", input, { capabilities });
  await view.getByText("/approvals/apr_").waitFor();
  server.clock.advance(25 * 60 * 60_000);
  await view.getByRole("button", { name: "Continue after the approval" }).click();
  await view.getByRole("alert").waitFor();
  expect(await readState(server, input.submissionId)).toBe("IN_REVIEW");
  await page.context().close();
});

test("where only a person may agree and nobody has an account, the view shows the refusal", async () => {
  const server = await openServer("human");
  const { page, view } = await open(server, "eliminate_submission", await seedElimination(server));
  expect(await view.locator("main").textContent()).toContain("human's agreement");
  expect(await view.getByRole("button").count()).toBe(0);
  await page.context().close();
});
