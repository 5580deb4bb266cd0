import type { Browser, Page } from "playwright-core";
import { beforeAll, expect, test } from "vitest";
import { programTemplate } from "../../src/imports/template.ts";
import { invite, password } from "../identity/browser-session.ts";
import { actAt } from "../portal/portal-actions.ts";
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

/** Moves with the Tab key alone to the control with a name, and presses a key there. */
async function pressAt(page: Page, name: string, key: string): Promise<void> {
  for (let presses = 0; presses < 100; presses++) {
    await page.keyboard.press("Tab");
    const focused = await page.evaluate(`
      [document.activeElement.getAttribute("aria-label"), document.activeElement.labels?.[0]?.textContent,
       document.activeElement.textContent].map((text) => text?.trim())
    `);
    if ((focused as string[]).includes(name)) return page.keyboard.press(key);
  }
  throw new Error(`The Tab key does not reach ${name}`);
}

/** Presses Enter on a link or a button, and waits for the page that it leads to. */
async function follow(page: Page, name: string): Promise<void> {
  const loaded = page.waitForEvent("load");
  await pressAt(page, name, "Enter");
  await loaded;
}

test("the first owner leads an empty database to the first submitted application by keyboard alone", async () => {
  const page = await openPage(browser);
  await page.goto(`${origin}/join/${await server.app.userAdmin.issueFirstLink()}`);
  await page.getByLabel("Your name").fill("Olga Owner");
  await page.getByLabel("E-mail address").fill("olga@example.org");
  await page.getByLabel("New password").fill(password);
  await page.getByLabel("The same password again").fill(password);
  await page.getByRole("button", { name: "Create the account" }).click();
  await page.waitForURL(`${origin}/account`);

  await follow(page, "Programmes");
  await follow(page, "New programme");
  await pressAt(page, "Name", "R");
  await page.keyboard.type("oof Fund");
  await follow(page, "Preview");
  await expectAccessible(page);
  await follow(page, "Create the programme");
  await page.getByText("The programme is made.").waitFor();
  await expectAccessible(page);
  await takeScreenshots(page, "console-set-up", { fullPage: false });
  await follow(page, "Edit the track Small grants");
  await pressAt(page, "The intake is open, within these times", "Space");
  await follow(page, "Preview the changes");
  await follow(page, "Apply the changes");
  await page.getByText("The set-up is changed.").waitFor();

  const { store } = server.app;
  const [track] = await store.reader(server.businessId).find("tracks", {}, { limit: 1 });
  const act = actAt(server);
  const { trackId = "", programId } = track ?? {};
  const { applicantId } = await act("register_applicant", {
    trackId,
    email: "noor@example.org",
    name: "Noor",
  });
  const fields = {
    fld_title: "Rain harvest",
    fld_summary: "Tanks for 40 gardens",
    fld_domain: "Environment",
    fld_budget: 4200,
  };
  const { submissionId, version } = await act("save_draft", { trackId, applicantId, fields });
  await (await server.as("REST")).submit_submission({ submissionId, version });
  await page.goto(`${origin}/programmes/${programId}/submissions`);
  await page.getByRole("link", { name: "Rain harvest" }).waitFor();
  await page.context().close();
});

const hostile = `"><img src=x onerror="document.title=1"><script>document.title=1</script>`;
const hostileNames = ["Small grants", "First review", "Application", "Summary", "Proposal", "Need", "Ada"];

test("a file is corrected, previewed and created, then edited, and hostile texts of it do nothing", async () => {
  const page = await openPage(browser);
  const secret = await invite(server, { email: "una@example.org", role: "owner", seesSensitive: true });
  await acceptInvitation(page, `${origin}/join/${secret}`);
  await page.goto(`${origin}/programmes/new`);
  await expectAccessible(page);
  const text = hostileNames.reduce(
    (changed, name) => changed.replaceAll(`: ${name}\n`, `: '${name} ${hostile}'\n`),
    programTemplate.replace(
      "{ track: Small grants, round: First review }",
      `{ track: 'Small grants ${hostile}', round: 'First review ${hostile}' }`,
    ),
  );
  const buffer = Buffer.from(text.replace("year: 2035", "year: soon"));
  await page.getByLabel("File").setInputFiles({ name: "programme.yaml", mimeType: "application/yaml", buffer });
  await page.getByRole("button", { name: "Preview the file" }).click();
  await page.getByRole("link", { name: "The text has 1 mistake. Nothing was written." }).waitFor();
  await expectAccessible(page);
  await page.getByLabel("Text", { exact: true }).fill(text);
  await page.getByRole("button", { name: "Preview this text" }).click();
  await page.getByText("Nothing is written yet.").waitFor();
  await expectAccessible(page);
  await page.getByRole("button", { name: "Create the programme" }).click();
  await page.getByText("The programme is made.").waitFor();

  const setUp = new URL(page.url()).pathname;
  for (const part of ["program", "tracks/1/rounds/1", "rubrics/1"]) {
    await page.goto(`${origin}${setUp}/${part}`);
    await expectAccessible(page);
    expect([part, await page.title(), await page.locator("main img, main script").count()]).toEqual([
      part,
      expect.not.stringMatching(/^1$/),
      0,
    ]);
  }
  await page.goto(`${origin}${setUp}/forms/1`);
  await page.getByText("Another field").first().click();
  await page.getByLabel("Label").nth(5).fill(`Team ${hostile}`);
  await expectAccessible(page);
  await page.getByRole("button", { name: "Preview the changes" }).click();
  await page.getByText("gets version 2").waitFor();
  await expectAccessible(page);
  await page.getByRole("button", { name: "Apply the changes" }).click();
  await page.getByText("The set-up is changed.").waitFor();
  expect(await page.locator("main img, main script").count()).toBe(0);
  await page.context().close();
});

test("last year's programme is copied, and its dates move with the opening date", async () => {
  const page = await openPage(browser);
  const secret = await invite(server, { email: "ulla@example.org", role: "owner" });
  await acceptInvitation(page, `${origin}/join/${secret}`);
  await page.goto(`${origin}/programmes`);
  await page.getByRole("link", { name: "Roof Fund" }).click();
  await page.getByRole("link", { name: "Set-up" }).click();
  await page.getByRole("link", { name: "make a new programme like this one" }).click();
  await page.getByLabel("Name").fill("Roof Fund");
  await page.getByLabel("Year").fill("2028");
  await page.getByLabel("Opening date").fill("2028-01-10");
  await page.getByRole("button", { name: "Preview", exact: true }).click();
  await page.getByText("2028-01-10 00:00 UTC to").first().waitFor();
  await takeScreenshots(page, "console-new-programme", { fullPage: false });
  await page.getByRole("button", { name: "Create the programme" }).click();
  await page.getByText("The programme is made.").waitFor();
  await page.goto(`${origin}/programmes`);
  expect(await page.getByRole("link", { name: "Roof Fund" }).count()).toBe(2);
  await page.context().close();
});

test("a mistake in a form has the focus, and leads to its input by keyboard, without a script", async () => {
  const page = await openPage(browser, { javaScriptEnabled: false });
  const secret = await invite(server, { email: "uma@example.org", role: "owner" });
  await page.goto(`${origin}/join/${secret}`);
  await page.getByLabel("Your name").fill("Uma");
  await page.getByLabel("New password").fill(password);
  await page.getByLabel("The same password again").fill("another long password");
  await page.keyboard.press("Enter");
  const message = "The two passwords are not the same.";
  await page.getByRole("link", { name: message }).waitFor();
  expect(await page.title()).toBe("Mistake: Accept the invitation");
  expect(await page.locator("[role=alert]:focus").count()).toBe(1);
  expect(await page.getByLabel("The same password again").getAttribute("aria-describedby")).toBe("repeated-mistake");
  await takeScreenshots(page, "form-mistake");
  await page.keyboard.press("Tab");
  await page.keyboard.press("Enter");
  expect(await page.locator("#repeated:focus").count()).toBe(1);
  await page.context().close();
});
