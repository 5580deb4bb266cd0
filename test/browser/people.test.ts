import type { Browser, Page } from "playwright-core";
import { beforeAll, expect, test } from "vitest";
import { invite, password } from "../identity/browser-session.ts";
import type { TestServer } from "../support/servers/test-server.ts";
import { addAuthenticator, expectAccessible, openBrowserServer, openPage, takeScreenshots } from "./browser.ts";

let browser: Browser;
let server: TestServer;
let origin: string;

beforeAll(async () => {
  const opened = await openBrowserServer();
  ({ browser, server, origin } = opened);
  return opened.close;
});

/** Presses the Tab key until a control has the focus. */
async function tabTo(page: Page, selector: string): Promise<void> {
  for (let pressed = 0; pressed < 20; pressed++) {
    await page.keyboard.press("Tab");
    if (await page.evaluate(`document.activeElement.matches(${JSON.stringify(selector)})`)) return;
  }
  throw new Error(`${selector} cannot be reached with the keyboard`);
}

test("an invited person sets up the account, adds a passkey and signs in with it, by keyboard alone", async () => {
  const page = await openPage(browser);
  await addAuthenticator(page.context(), page);
  const secret = await invite(server, { email: "olga@example.org", role: "owner" });
  await page.goto(`${origin}/join/${secret}`);
  await expectAccessible(page);
  await takeScreenshots(page, "invitation");
  await tabTo(page, "#name");
  await page.keyboard.type("Olga Owner");
  await tabTo(page, "#password");
  await page.keyboard.type(password);
  await tabTo(page, "#repeated");
  await page.keyboard.type(password);
  await page.keyboard.press("Enter");
  await page.waitForURL(`${origin}/account`);
  await expectAccessible(page);

  await tabTo(page, "#passkey-name");
  await page.keyboard.type("Test key");
  await page.keyboard.press("Enter");
  await page.getByText("Test key, added").waitFor();
  await expectAccessible(page);
  await takeScreenshots(page, "people-account");

  await tabTo(page, "form[action='/sign-out'] button");
  await page.keyboard.press("Enter");
  await page.waitForURL(`${origin}/sign-in`);
  await page.goto(`${origin}/account`);
  await page.locator("[data-passkey-sign-in]").waitFor();
  await expectAccessible(page);
  await takeScreenshots(page, "sign-in");
  await tabTo(page, "[data-passkey-sign-in]");
  await page.keyboard.press("Enter");
  await page.waitForURL(`${origin}/account`);
  expect(await page.locator("header").textContent()).toContain("Olga Owner");
  expect(await page.evaluate("document.cookie")).toBe("");

  await page.getByRole("button", { name: "Remove the passkey Test key" }).click();
  await page.getByText("The passkey was removed.").waitFor();
  await page.getByRole("button", { name: "Sign out" }).click();
  await page.locator("[data-passkey-sign-in]").click();
  await page.getByText("The passkey was not accepted.").waitFor();
  const audit = await server.app.store.reader(server.businessId).pageAudit({ entityType: "user" }, { limit: 100 });
  const methods = ["passkey", "password"];
  const listed = audit.rows.map(({ action, changes }) => {
    const method = changes.find(({ to }) => methods.includes(String(to)))?.to;
    return method === undefined ? action : `${action} ${method}`;
  });
  expect(listed).toEqual([
    "user.signed_out",
    "user.passkey_removed",
    "user.signed_in passkey",
    "user.signed_out",
    "user.passkey_added",
    "user.signed_in password",
    "user.link_used",
    "user.invited",
  ]);
  await page.context().close();
});

test("the pages work without scripts, and the wrong password is explained", async () => {
  const page = await openPage(browser, { javaScriptEnabled: false });
  const secret = await invite(server, { email: "rita@example.org", role: "staff" });
  await page.goto(`${origin}/join/${secret}`);
  await page.getByLabel("Your name").fill("Rita");
  await page.getByLabel("New password").fill(password);
  await page.getByLabel("The same password again").fill(password);
  await page.getByRole("button", { name: "Create the account" }).click();
  await page.waitForURL(`${origin}/account`);
  expect(await page.locator("[data-passkey-add]").isVisible()).toBe(false);
  await page.getByRole("button", { name: "Sign out" }).click();
  await page.getByLabel("E-mail address").fill("rita@example.org");
  await page.getByLabel("Password").fill("not the password");
  await page.getByRole("button", { name: "Sign in" }).click();
  await page.getByRole("link", { name: "The address or the password is wrong." }).waitFor();
  await page.getByLabel("Password").fill(password);
  await page.getByRole("button", { name: "Sign in" }).click();
  await page.waitForURL(`${origin}/`);
  expect(await page.locator("header").textContent()).toContain("Rita");
  await page.context().close();
});

test("visitors see what the server is and where to sign in", async () => {
  const page = await openPage(browser);
  await page.goto(`${origin}/`);
  await expectAccessible(page);
  await takeScreenshots(page, "home");
  await page.getByRole("link", { name: "Sign in" }).click();
  await page.waitForURL(`${origin}/sign-in`);
  await page.goto(`${origin}/join/${"0".repeat(64)}`);
  await expectAccessible(page);
  await page.context().close();
});
