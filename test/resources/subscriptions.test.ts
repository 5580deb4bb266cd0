import { describe, expect, test as plain, vi } from "vitest";
import { test } from "../support/desk.ts";
import { browse, browsers, quiet, toldMs } from "./browsers.ts";

const told = { timeout: toldMs, interval: 20 };

describe.each(Object.entries(browsers))("%s", (_, connect) => {
  test("a change by REST is told within a second, to who follows the record, its list or its parts", async ({ desk }) => {
    const submission = await desk.seed.submission({ state: "SUBMITTED" });
    const other = await desk.seed.submission({ state: "SUBMITTED" });
    const { submissionId, programId, version } = submission;
    const record = `programme://submissions/${submissionId}`;
    const list = `programme://submissions?programId=${programId}`;
    const trail = `programme://audit?submissionId=${submissionId}`;
    const untouched = [
      `programme://submissions/${other.submissionId}`,
      `programme://submissions?programId=${other.programId}`,
      `programme://submissions/${submissionId}/payment`,
      `programme://programs/${programId}`,
    ];
    const browser = await connect(desk, await desk.token());
    const followed = [record, list, trail, ...untouched];
    expect(await browser.follow(...followed)).toEqual(followed);
    await quiet();
    expect(browser.heard).toEqual({ updated: [], lists: [] });
    const staff = await desk.as("REST");
    await staff.screen_submission({ submissionId, eligible: true, version });
    await vi.waitFor(() => expect(browser.heard.updated.toSorted()).toEqual([record, list, trail].toSorted()), told);
    expect(await browser.read(record)).toMatchObject({ data: { state: "ELIGIBLE" } });
    await quiet();
    expect(browser.heard.updated).toHaveLength(3);
    expect(browser.heard.lists).toEqual([]);
    await browser.unfollow();
    await staff.withdraw_submission({ submissionId, reason: "Asked to", version: version + 1 });
    await quiet();
    expect(browser.heard.updated).toHaveLength(3);
  });

  test("another tenant's changes are not told, whatever is followed", async ({ desk }) => {
    const neighbour = await desk.other();
    const { submissionId, programId, version } = await neighbour.seed.submission({ state: "SUBMITTED" });
    const browser = await connect(desk, await desk.token());
    const followed = [
      `programme://submissions/${submissionId}`,
      `programme://submissions?programId=${programId}`,
      `programme://programs/${programId}`,
      "programme://submissions",
      "programme://programs",
      "programme://audit",
    ];
    expect(await browser.follow(...followed)).toEqual(followed);
    const staff = await neighbour.as("REST");
    await staff.screen_submission({ submissionId, eligible: true, version });
    await staff.update_program({ programId, name: "Another name", version: 0 });
    await quiet();
    expect(browser.heard).toEqual({ updated: [], lists: [] });
    // It is not deaf.
    const own = await desk.seed.program();
    await (await desk.as("REST")).update_program({ programId: own.programId, name: "New name", version: 0 });
    await vi.waitFor(() => expect(browser.heard.updated).toContain("programme://programs"), told);
    expect(browser.heard.updated.filter((uri) => uri.includes(programId) || uri.includes(submissionId))).toEqual([]);
  });
});
void plain; void browse;
