import type { Browser } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { openTestServer, type TestServer } from "../support/servers/test-server.ts";
import { launchBrowser } from "./browser.ts";
import { expectViewAccessible, type OpenedView, openView, takeViewScreenshots } from "./view-host.ts";

let browser: Browser;
let server: TestServer;
let close: () => Promise<void>;

beforeAll(async () => {
  browser = await launchBrowser();
  ({ server, close } = await openTestServer({ PROGRAMME_CONFIRM: "ask" }));
});

afterAll(async () => {
  await browser.close();
  await close();
});

const roof = "A roof for the market hall";
const hostile = '<img src=x onerror="alert(1)"> roof';

/** Makes a round with two submissions and three reviewers, of whom Ada has the first submission and Cleo a conflict. */
async function openPlan(more: Partial<Parameters<typeof openView>[3]> = {}, title = hostile) {
  const { seed } = server;
  const { programId, trackId, roundId } = await seed.round();
  const submission = (title: string) =>
    seed.submission({ programId, trackId, currentRoundId: roundId, state: "IN_REVIEW", title });
  const [first, second] = [await submission(title), await submission("A choir for the harbour")];
  const reviewer = (firstName: string, affiliation: string) =>
    seed.reviewer({
      programIds: [programId],
      roundIds: [roundId],
      status: "active",
      firstName,
      lastName: "Okafor",
      affiliation,
    });
  const [ada, ben, cleo] = [
    await reviewer("Ada", "Museum of Trade"),
    await reviewer("Ben", "City Library"),
    await reviewer("Cleo", "Harbour School"),
  ];
  const pair = { programId, trackId, roundId };
  await seed.assignment({ ...pair, submissionId: first.submissionId, reviewerId: ada.reviewerId });
  await seed.assignment({
    ...pair,
    submissionId: second.submissionId,
    reviewerId: cleo.reviewerId,
    active: false,
    status: "conflict",
    conflictAttestation: { hasConflict: true, statement: "My pupil", attestedAt: "2026-11-02T09:00:00.000Z" },
  });
  const submissionIds = [first.submissionId, second.submissionId];
  const input = { programId, roundId, submissionIds };
  const opened = await openView(browser, server, await server.token(), {
    tool: "list_reviewer_candidates",
    input,
    ...more,
  });
  await opened.view.getByRole("heading", { name: "Assignment plan" }).waitFor();
  return { ...opened, input, first, second, ada, ben };
}

/** Returns who is assigned to what, as the service has it. */
async function listPairs(roundId: string) {
  const where = { roundId, active: true };
  const rows = await server.app.store.reader(server.businessId).find("assignments", { where }, { limit: 50 });
  return rows.map(({ submissionId, reviewerId }) => `${submissionId} ${reviewerId}`).toSorted();
}

const listChanges = ({ view }: Pick<OpenedView, "view">) =>
  view.locator("h2", { hasText: "Changes" }).locator("+ ul li");

test("assignments are changed by drag and by keyboard, shown as a difference, and sent as one batch that asks", async () => {
  const opened = await openPlan({}, roof);
  const { page, view, calls, input, first, second, ada, ben } = opened;
  const before = await listPairs(input.roundId);
  expect(await view.getByRole("checkbox", { name: /^Cleo.*choir/ }).isDisabled()).toBe(true);
  expect(await view.locator("main script, main img, main a").count()).toBe(0);

  await view
    .locator(`[data-value="${first.submissionId} ${ada.reviewerId}"]`)
    .dragTo(view.locator(`[data-value="${first.submissionId} ${ben.reviewerId}"]`));
  await expect
    .poll(() => listChanges(opened).allTextContents())
    .toEqual([expect.stringMatching(/moves from Ada.* to Ben/)]);
  await view.getByRole("checkbox", { name: /^Ada.*choir/ }).focus();
  await page.keyboard.press("Space");
  await expect.poll(() => listChanges(opened).count()).toBe(2);
  expect(await view.locator("input:focus").getAttribute("aria-label")).toMatch(/^Ada.*choir/);
  await expectViewAccessible(opened);
  await takeViewScreenshots(opened, "plan");
  expect(calls).toEqual([]);
  expect(await listPairs(input.roundId)).toEqual(before);

  await view.getByRole("button", { name: "Send the changes" }).click();
  await view.getByRole("heading", { name: "Make 2 changes" }).waitFor();
  expect(calls.map(({ name }) => name)).toEqual(["list_assignments", "run_batch"]);
  expect(await listPairs(input.roundId)).toEqual(before);
  await view.getByRole("button", { name: "Back" }).click();
  await expect.poll(() => listChanges(opened).count()).toBe(2);

  await view.getByRole("button", { name: "Send the changes" }).click();
  await view.getByRole("button", { name: "Approve" }).click();
  await view.getByRole("heading", { name: "Sent" }).waitFor();
  await view.getByText("Nothing is changed.").waitFor();
  const wanted = [`${first.submissionId} ${ben.reviewerId}`, `${second.submissionId} ${ada.reviewerId}`];
  expect(await listPairs(input.roundId)).toEqual(wanted.toSorted());
  await page.context().close();
});

test("an assignment is removed, discarded changes are not sent, and a declined batch changes nothing", async () => {
  const opened = await openPlan();
  const { page, view, input, calls, second, ben } = opened;
  const before = await listPairs(input.roundId);
  const box = view.getByRole("checkbox", { name: /^Ada.*roof/ });
  await box.uncheck();
  await view.getByText("Ben Okafor").dragTo(view.locator(`[data-value="${second.submissionId} ${ben.reviewerId}"]`));
  await expect.poll(() => listChanges(opened).count()).toBe(2);
  await view.getByRole("button", { name: "Discard" }).click();
  await view.getByText("Nothing is changed.").waitFor();
  expect(calls).toEqual([]);
  await box.uncheck();
  await view.getByRole("button", { name: "Send the changes" }).click();
  await view.getByRole("heading", { name: "Remove review assignment" }).waitFor();
  await view.getByRole("button", { name: "Decline" }).click();
  await view.getByText("Declined. Nothing has been done.").waitFor();
  expect(await listPairs(input.roundId)).toEqual(before);
  await page.context().close();
});

test("a host that passes no calls shows the plan without the button to send it", async () => {
  const { page, view } = await openPlan({ capabilities: {} });
  await view.getByRole("checkbox", { name: /^Ben.*roof/ }).check();
  await view.getByText("Give the changes to the assistant.").waitFor();
  expect(await view.getByRole("button", { name: "Send the changes" }).count()).toBe(0);
  await page.context().close();
});
