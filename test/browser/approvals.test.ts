import type { Browser } from "playwright-core";
import { beforeAll, expect, test } from "vitest";
import { invite, password } from "../identity/browser-session.ts";
import { clients, readConfirmation, readError, type ToolClient } from "../support/clients/clients.ts";
import type { TestServer } from "../support/servers/test-server.ts";
import { acceptInvitation, expectAccessible, openBrowserServer, openPage, takeScreenshots } from "./browser.ts";

let browser: Browser;
let server: TestServer;
let origin: string;

beforeAll(async () => {
  const opened = await openBrowserServer({ PROGRAMME_CONFIRM: "human" });
  ({ browser, server, origin } = opened);
  return opened.close;
});

const hostile = '<img src=x onerror="document.title=1"> & <script>document.title=1</script> roof';

async function seedSubmission(title: string) {
  const { submissionId, version } = await server.seed.submission({ state: "IN_REVIEW", title });
  return { submissionId, version, reason: "Outside the region" };
}

test("a person follows the link of a question, signs in, leaves out a call of a batch and approves the rest", async () => {
  const secret = await invite(server, { email: "olga@example.org", role: "staff" });
  const page = await openPage(browser);
  await acceptInvitation(page, `${origin}/join/${secret}`);
  await page.getByRole("button", { name: "Sign out" }).click();

  const agent = (await clients["2026-07-28 over HTTP"]?.(server, await server.token())) as ToolClient;
  const calls = [];
  for (const title of ["A roof for the market hall", "Swings by the river", "A choir for the harbour"])
    calls.push({ tool: "eliminate_submission", arguments: await seedSubmission(title) });
  const question = readConfirmation(await agent.call("run_batch", { calls })) as { token: string; url?: string };
  await page.goto(`${origin}${new URL(String(question.url)).pathname}`);
  await page.getByLabel("E-mail address").fill("olga@example.org");
  await page.getByLabel("Password").fill(password);
  await page.keyboard.press("Enter");
  await page.getByRole("heading", { name: "Approval" }).waitFor();
  expect(await page.title()).toBe("Approval");
  await expectAccessible(page);
  await takeScreenshots(page, "approval");
  await page.getByLabel("2. Eliminate submission").uncheck();
  await page.keyboard.press("Enter");
  await page.getByText("Choose Approve or Decline").waitFor();
  await page.getByLabel("If you decline: why?").fill("Wait");
  await page.keyboard.press("Enter");
  await page.waitForFunction("document.activeElement.matches('.notice')");
  await page.getByRole("button", { name: "Approve" }).click();
  await page.getByText("A reason is sent with Decline alone").first().waitFor();
  expect(await page.getByLabel("2. Eliminate submission").isChecked()).toBe(false);
  await page.getByLabel("If you decline: why?").fill("");
  await page.getByRole("button", { name: "Approve" }).click();
  await page.getByText("Approved by Olga Owner").waitFor();
  await expectAccessible(page);

  await agent.call("run_batch", { calls, confirmation: question.token });
  const reader = server.app.store.reader(server.businessId);
  const states = calls.map(
    async ({ arguments: { submissionId } }) => (await reader.get("submissions", submissionId))?.state,
  );
  expect(await Promise.all(states)).toEqual(["ELIMINATED", "IN_REVIEW", "ELIMINATED"]);

  const single = await seedSubmission(hostile);
  const { token, url } = readConfirmation(await agent.call("eliminate_submission", single)) as typeof question;
  await page.goto(`${origin}/approvals`);
  await expectAccessible(page);
  await takeScreenshots(page, "approvals");
  await page.getByRole("link", { name: /Eliminate submission/ }).click();
  expect(page.url()).toBe(`${origin}${new URL(String(url)).pathname}`);
  await page.getByLabel("If you decline: why?").fill("Wait for the board");
  await page.getByRole("button", { name: "Decline" }).click();
  await page.getByText("Wait for the board").waitFor();
  const refused = await agent.call("eliminate_submission", { ...single, confirmation: token });
  expect(readError(refused)).toMatchObject({
    code: "confirmation_declined",
    details: { reason: "Wait for the board" },
  });

  const { programId } = await server.seed.program();
  const applicantEmails = Array.from({ length: 14 }, (_, index) => `applicant-${index}@example.org`);
  for (const email of applicantEmails) await server.seed.applicant({ email, programIds: [programId] });
  const body = `Dear all,\n\n${"The jury has met and read everything. ".repeat(20)}\n\nYours, the jury`;
  const applicants = { applicantEmails, subject: "News", body };
  const mailing = readConfirmation(await agent.call("send_bulk_email", { programId, applicants })) as typeof question;
  await page.goto(`${origin}${new URL(String(mailing.url)).pathname}`);
  await page.getByText("The whole message to applicants").focus();
  await page.keyboard.press("Enter");
  await page.getByText("Yours, the jury").waitFor();
  await expectAccessible(page);
  await takeScreenshots(page, "approval-message");
  await page.context().close();
});
