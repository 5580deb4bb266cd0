import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { invite, password } from "../identity/browser-session.ts";
import { TestApp } from "../identity/test-app.ts";
import { openPeopleGateway } from "../support/servers/people-gateway.ts";
import { acceptInvitation, expectAccessible, launchBrowser, openPage, takeScreenshots } from "./browser.ts";
import { openDemoServer } from "./demo-server.ts";

/** Listens where an installed app does, and returns the first address that a browser opens there. */
async function listenForAnswer() {
  const { promise, resolve } = Promise.withResolvers<URL>();
  const listener = createServer(({ url = "/" }, response) => {
    response.end("You can close this page.");
    resolve(new URL(url, "http://127.0.0.1"));
  });
  await new Promise<void>((done) => listener.listen(0, "127.0.0.1", done));
  onTestFinished(() => void listener.close());
  return { redirectUrl: `http://127.0.0.1:${(listener.address() as AddressInfo).port}/callback`, answered: promise };
}

test("a person signs in, allows an app that has nothing but the address, and ends it", async () => {
  const { browser, server, origin, close } = await openDemoServer();
  onTestFinished(close);
  const page = await openPage(browser);
  const secret = await invite(server, { email: "olga@example.org", role: "owner" });
  await acceptInvitation(page, `${origin}/join/${secret}`);
  await page.context().clearCookies();

  const { redirectUrl, answered } = await listenForAnswer();
  const app = new TestApp({ redirectUrl });
  app.clientMetadata.client_name = "Example Assistant";
  const client = await app.connect(origin, async (authorizationUrl) => {
    await page.goto(authorizationUrl.href);
    await page.fill("#email", "olga@example.org");
    await page.fill("#password", password);
    await page.press("#password", "Enter");
    await page.waitForURL(/\/connect\//);
    await expectAccessible(page);
    await takeScreenshots(page, "consent");
    await page.click("summary");
    await expectAccessible(page);
    await page.click("button[value=connect]");
    return answered;
  });
  expect((await client.listTools()).tools.map(({ name }) => name)).toContain("list_programs");
  const listed = await client.callTool({ name: "list_programs", arguments: {} });
  expect(JSON.stringify(listed)).toContain("Common Ground Fund 2026");

  await page.goto(`${origin}/access`);
  await page.click("a[href^='/access/apps/']");
  await expectAccessible(page);
  await takeScreenshots(page, "access-app");
  await page.goto(`${origin}/connected-apps`);
  await expectAccessible(page);
  await takeScreenshots(page, "connected-apps");
  await page.click("button:has-text('End')");
  await page.waitForURL(/done=ended/);
  app.stored = undefined;
  await expect(client.listTools()).rejects.toThrow();
});

test("a person saves a product token in front of a remote product, and it is not shown again", async () => {
  const [browser, { product, server }] = await Promise.all([launchBrowser(), openPeopleGateway()]);
  onTestFinished(() => browser.close());
  const origin = server.origin.replace("127.0.0.1", "localhost");
  const page = await openPage(browser);
  const secret = await invite(server, { email: "olga@example.org", role: "owner" });
  await acceptInvitation(page, `${origin}/join/${secret}`);
  await page.click("a:has-text('Product token')");
  const token = await product.token();
  await page.fill("#person-token", token);
  await page.press("#person-token", "Enter");
  await page.waitForURL(/done=saved/);
  await expectAccessible(page);
  await takeScreenshots(page, "product-token");
  expect(await page.content()).not.toContain(token);
  await page.click("summary:has-text('Remove the token')");
  await page.click("button:has-text('Remove the token')");
  await page.waitForURL(/done=removed/);
});
