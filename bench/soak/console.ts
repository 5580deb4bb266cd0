import { setTimeout as delay } from "node:timers/promises";
import chromium from "@sparticuz/chromium";
import { chromium as driver } from "playwright-core";

/** A browser with the console open. */
export interface OpenConsole {
  /** Messages of failed scripts and pages. */
  readonly errors: readonly string[];
  /** Pages that it has opened. */
  readonly pages: () => number;
  close(): Promise<void>;
}

const pauseMs = 5_000;

/** Sets up the first account, and opens one page after the other until it is closed. Each shows changes as they come. */
export async function openConsole(ownerLink: string): Promise<OpenConsole> {
  const browser = await driver.launch({
    executablePath: await chromium.executablePath(),
    args: ["--no-sandbox", "--disable-gpu"],
    headless: true,
  });
  const page = await browser.newPage();
  const errors: string[] = [];
  page.on("pageerror", ({ message }) => errors.push(message));
  page.on("response", (response) => {
    if (response.status() >= 400) errors.push(`${response.status()} ${new URL(response.url()).pathname}`);
  });
  const { origin } = new URL(ownerLink);
  await page.goto(ownerLink);
  await page.getByLabel("Your name").fill("Olga Owner");
  for (const email of await page.getByLabel("E-mail").all()) await email.fill("olga@example.org");
  await page.getByLabel("New password").fill("a long password of a soak");
  await page.getByLabel("The same password again").fill("a long password of a soak");
  await page.getByRole("button", { name: "Create the account" }).click();
  await page.waitForURL(`${origin}/account`);
  const ending = new AbortController();
  let pages = 0;
  const visiting = visit();

  async function visit(): Promise<void> {
    while (!ending.signal.aborted) {
      const links = (await open("/")) ? await page.locator("main a[href^='/']").all() : [];
      await delay(pauseMs, undefined, { signal: ending.signal }).catch(() => undefined);
      const path = await links[Math.floor(Math.random() * links.length)]?.getAttribute("href").catch(() => undefined);
      if (path && !ending.signal.aborted) await open(path);
    }
  }

  /** Opens a page, and returns whether it was shown. */
  async function open(path: string): Promise<boolean> {
    try {
      await page.goto(`${origin}${path}`);
      pages += 1;
      return true;
    } catch (error) {
      const [summary = ""] = (error as Error).message.split("\n");
      errors.push(`${path.replace(/#.*/, "")}: ${summary}`);
      return false;
    }
  }

  return {
    errors,
    pages: () => pages,
    async close() {
      ending.abort();
      await visiting;
      await browser.close();
    },
  };
}
