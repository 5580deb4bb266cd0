import type { Browser } from "playwright-core";
import { beforeAll, expect, test } from "vitest";
import { programTemplate } from "../../src/imports/template.ts";
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

async function openAsOwner(email: string) {
  const page = await openPage(browser);
  const secret = await invite(server, { email, role: "owner" });
  await acceptInvitation(page, `${origin}/join/${secret}`);
  return page;
}

test("an uploaded file with mistakes shows their lines, and creates the programme once they are corrected", async () => {
  const page = await openAsOwner("una@example.org");
  await page.goto(`${origin}/programmes`);
  await page.getByRole("link", { name: "New programme" }).click();
  await expectAccessible(page);
  await takeScreenshots(page, "new-programme");
  const broken = programTemplate.replace("year: 2035", "year: soon");
  await page.getByLabel("File").setInputFiles({
    name: "programme.yaml",
    mimeType: "application/yaml",
    buffer: Buffer.from(broken),
  });
  await page.getByRole("button", { name: "Preview the file" }).click();
  await page.getByText("The text has 1 mistake. Nothing was written.").waitFor();
  await expectAccessible(page);
  await takeScreenshots(page, "new-programme-mistakes");
  await page.getByLabel("Text", { exact: true }).fill(programTemplate);
  await page.getByRole("button", { name: "Preview this text" }).click();
  await page.getByText("Nothing is written yet.").waitFor();
  await page.getByText("Application: 5 fields (new)").click();
  await expectAccessible(page);
  await takeScreenshots(page, "new-programme-preview");
  await page.getByRole("button", { name: "Create the programme" }).click();
  await page.getByText("The programme is made.").waitFor();
  await expectAccessible(page);
  await takeScreenshots(page, "set-up");
  expect(await page.title()).toBe("Community Fund: set-up");
  await page.context().close();
});
