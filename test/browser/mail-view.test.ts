import type { Browser } from "playwright-core";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { createId } from "../../src/lib/ids.ts";
import { runDueExports } from "../support/data/exports.ts";
import { openTestServer } from "../support/servers/test-server.ts";
import { launchBrowser } from "./browser.ts";
import { expectViewAccessible, openView, takeViewScreenshots } from "./view-host.ts";

let browser: Browser;

beforeAll(async () => {
  browser = await launchBrowser();
});

afterAll(() => browser.close());

const hostile = '<img src=x onerror="alert(1)">';

async function openServer() {
  const { server, close } = await openTestServer({
    PROGRAMME_CONFIRM: "ask",
    PROGRAMME_PRIVACY: "pseudonymize",
  });
  onTestFinished(close);
  return server;
}

test("a bulk e-mail is shown with recipients without addresses, its whole text, and what is left out", async () => {
  const server = await openServer();
  const { seed } = server;
  const { programId, trackId } = await seed.track();
  const programIds = [programId];
  for (const [index, name] of ["Ida", hostile, "Omar"].entries())
    await seed.applicant({ email: `a${index}@example.org`, name, programIds, trackIds: [trackId] });
  const suppressed = { suppressionId: createId("sup"), email: "a2@example.org", reason: "unsubscribed" } as const;
  await server.write((transaction) => transaction.insert("suppressions", suppressed));
  const body = `Dear applicant,\n\n${hostile}\n${"The deadline is on Friday. ".repeat(30)}The end.`;
  const input = { programId, target: {}, applicants: { subject: `Deadline ${hostile}`, body } };
  const opened = await openView(browser, server, await server.token(), { tool: "send_bulk_email", input });
  const { page, view, calls } = opened;
  await view.getByRole("heading", { name: "Message to applicants" }).waitFor();
  await expectViewAccessible(opened);
  await takeViewScreenshots(opened, "mail");
  const text = String(await view.locator("main").textContent());
  expect(text).toContain("The end.");
  expect(text).toContain("“Ida”");
  expect(text).toContain("1 e-mail suppressed: not sent");
  expect(text).not.toContain("@example.org");
  expect(await view.locator("main script, main img, main a").count()).toBe(0);
  await view.getByText("This cannot be undone").waitFor();
  expect(calls).toEqual([]);
  const countMails = () => server.app.store.reader(server.businessId).count("emailSends", {});
  expect(await countMails()).toBe(0);
  await view.getByRole("button", { name: "Approve" }).click();
  await view.getByRole("heading", { name: "Bulk e-mail" }).waitFor();
  expect(await view.locator("dd").allTextContents()).toEqual(["2", "1", "0"]);
  expect(await countMails()).toBe(3);
  await page.context().close();
});

test("an export asks, is followed until its file is made, and the host opens the link", async () => {
  const server = await openServer();
  const { programId } = await server.seed.program();
  const opened = await openView(browser, server, await server.token(), {
    tool: "create_export",
    input: { programId },
  });
  const { page, view, calls, events } = opened;
  await view.getByRole("button", { name: "Approve" }).click();
  await view.getByRole("progressbar").waitFor();
  await expect.poll(() => calls.at(-1)?.name).toBe("get_export");
  await runDueExports(server);
  await view.getByRole("button", { name: "Download" }).waitFor();
  await expectViewAccessible(opened);
  await takeViewScreenshots(opened, "export");
  await view.getByRole("button", { name: "Download" }).click();
  await expect.poll(() => events.filter(({ kind }) => kind === "link").length).toBe(1);
  const made = calls.length;
  await view.getByRole("button", { name: "Refresh" }).click();
  await expect.poll(() => calls.length).toBe(made + 1);
  expect(await view.locator("main a").count()).toBe(0);
  await page.context().close();
});
