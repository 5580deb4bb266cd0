import chromium from "@sparticuz/chromium";
import axe from "axe-core";
import { type Browser, type BrowserContext, chromium as driver, type Frame, type Page } from "playwright-core";
import { expect } from "vitest";
import { password } from "../identity/browser-session.ts";
import { openTestServer } from "../support/servers/test-server.ts";

/** Starts the Chromium of an npm package, without a window. It takes a few seconds. */
export async function launchBrowser(): Promise<Browser> {
  const executablePath = await chromium.executablePath();
  // The package's own arguments disable the checks of origins, and end the browser with its first page.
  return driver.launch({ executablePath, args: ["--no-sandbox", "--disable-gpu"], headless: true });
}

/** Starts a browser and a service, which it reaches by a name, as passkeys need. */
export async function openBrowserServer(environment: Record<string, string> = {}) {
  const browser = await launchBrowser();
  const { server, close: closeServer } = await openTestServer(environment);
  async function close(): Promise<void> {
    await browser.close();
    await closeServer();
  }
  return { browser, server, origin: server.origin.replace("127.0.0.1", "localhost"), close };
}

/** Opens a page in a profile of its own, which fails the test on an error of a script or of the content policy. */
export async function openPage(browser: Browser, options: Parameters<Browser["newContext"]>[0] = {}): Promise<Page> {
  const context = await browser.newContext({ viewport: { width: 1024, height: 768 }, ...options });
  const page = await context.newPage();
  page.on("pageerror", (error) => {
    throw error;
  });
  page.on("console", (message) => {
    if (/content security policy/i.test(message.text())) throw new Error(message.text());
  });
  return page;
}

/** Accepts an invitation in a page, which is signed in afterwards. */
export async function acceptInvitation(page: Page, link: string, name = "Olga Owner"): Promise<void> {
  await page.goto(link);
  await page.getByLabel("Your name").fill(name);
  await page.getByLabel("New password").fill(password);
  await page.getByLabel("The same password again").fill(password);
  await page.getByRole("button", { name: "Create the account" }).click();
  await page.waitForURL(new URL("/account", link).href);
}

interface AxeResults {
  readonly violations: readonly { readonly id: string; readonly nodes: readonly { readonly html: string }[] }[];
}

/** Expects that axe-core finds nothing that hinders people in the page, in light and in dark. */
export async function expectAccessible(page: Page): Promise<void> {
  for (const colorScheme of ["light", "dark"] as const) {
    await page.emulateMedia({ colorScheme });
    expect([colorScheme, await findBarriers(page)]).toEqual([colorScheme, []]);
  }
  await page.emulateMedia({ colorScheme: "light" });
}

/** Returns what axe-core finds that hinders people in a page or a frame. */
export async function findBarriers(page: Page | Frame): Promise<string[][]> {
  // The page's policy allows no foreign script; the debugger's evaluation is not subject to it.
  const results = (await page.evaluate(`${axe.source}; axe.run()`)) as AxeResults;
  return results.violations.map(({ id, nodes }) => [id, ...nodes.map(({ html }) => html)]);
}

/** Writes screenshots of a page in light and in dark to `TEST_SCREENSHOTS`, if that names a folder. */
export async function takeScreenshots(page: Page, name: string, { fullPage = true } = {}): Promise<void> {
  const folder = screenshotFolder;
  if (folder === undefined) return;
  for (const colorScheme of ["light", "dark"] as const) {
    await page.emulateMedia({ colorScheme });
    await page.screenshot({ path: `${folder}/${name}-${colorScheme}.png`, fullPage });
  }
  await page.emulateMedia({ colorScheme: "light" });
}

// The program, which shares the environment, refuses variables that it does not know.
export const screenshotFolder = process.env["TEST_SCREENSHOTS"];

/** Gives a browser an authenticator that makes passkeys and confirms each use. */
export async function addAuthenticator(context: BrowserContext, page: Page): Promise<void> {
  const session = await context.newCDPSession(page);
  await session.send("WebAuthn.enable");
  await session.send("WebAuthn.addVirtualAuthenticator", {
    options: {
      protocol: "ctap2",
      transport: "internal",
      hasResidentKey: true,
      hasUserVerification: true,
      isUserVerified: true,
      automaticPresenceSimulation: true,
    },
  });
}
