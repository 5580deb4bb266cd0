import type { Browser, Page } from "playwright-core";
import { beforeAll, expect, test } from "vitest";
import { type CallTool, openTutorial, type Tutorial } from "../docs/tutorial.ts";
import { invite, password } from "../identity/browser-session.ts";
import { TestApp } from "../identity/test-app.ts";
import { clients, type ToolClient } from "../support/clients/clients.ts";
import { openDemoServer } from "../support/servers/demo-server.ts";
import { expectAccessible, launchBrowser, openPage, takeScreenshots } from "./browser.ts";

let browser: Browser;

beforeAll(async () => {
  browser = await launchBrowser();
  return () => browser.close();
});

async function makeAccount(page: Page, link: string, { label }: Tutorial, name: string, email: string): Promise<void> {
  await page.goto(link);
  await page.getByLabel(label("Your name")).fill(name);
  const address = page.getByLabel(label("E-mail address"));
  if (await address.isEditable()) await address.fill(email);
  await page.getByLabel(label("New password")).fill(password);
  await page.getByLabel(label("The same password again")).fill(password);
  await takeScreenshots(page, "tutorial-account");
  await page.getByRole("button", { name: label("Create the account") }).click();
  await page.waitForURL(new URL("/account", link).href);
}

test("an editor with the tutorial's settings connects by consent, and its calls answer as the page shows", async () => {
  const tutorial = openTutorial("docs/tutorials/ide.md");
  const server = await openDemoServer();
  const origin = server.origin.replace("127.0.0.1", "localhost");
  const page = await openPage(browser);
  const link = `${origin}/join/${await invite(server, { email: "olga@example.org", role: "owner" })}`;
  await makeAccount(page, link, tutorial, "Olga Owner", "olga@example.org");

  const entries = tutorial.all("connects").flatMap(({ text }) => {
    const { servers, mcpServers } = JSON.parse(text);
    return Object.values(servers ?? mcpServers) as { url: string }[];
  });
  expect(entries.map(({ url }) => url)).toEqual(Array(2).fill("http://localhost:3000/mcp"));
  const redirectUrl = `${origin}/editor`;
  const app = new TestApp({ redirectUrl });
  app.clientMetadata.client_name = "Visual Studio Code";
  const client = await app.connect(origin, async (authorizationUrl) => {
    await page.goto(authorizationUrl.href);
    await page.waitForURL(/\/connect\//);
    expect(await page.getByLabel(tutorial.label("Read"), { exact: true }).isChecked()).toBe(true);
    await page.getByLabel(tutorial.label("Change"), { exact: true }).check();
    await takeScreenshots(page, "tutorial-consent");
    const answered = page.waitForRequest((request) => request.url().startsWith(`${redirectUrl}?`));
    await page.getByRole("button", { name: tutorial.label("Connect"), exact: true }).click();
    return new URL((await answered).url());
  });
  await tutorial.follow((name, input) => client.callTool({ name, arguments: input }) as never);
  const { tools } = await client.listTools();
  expect(tools.map(({ name }) => name)).toContain("update_submission");
  await page.context().close();
});

test("an owner invites staff and makes a token, an agent asks, and the member of staff decides", async () => {
  const tutorial = openTutorial("docs/tutorials/team.md");
  const { label } = tutorial;
  const server = await openDemoServer({ PROGRAMME_CONFIRM: "human" });
  const origin = server.origin.replace("127.0.0.1", "localhost");
  const owner = await openPage(browser);
  const first = await invite(server, { email: "olga@example.org", role: "owner" });
  await makeAccount(owner, `${origin}/join/${first}`, tutorial, "Olga Owner", "olga@example.org");

  await owner.goto(`${origin}/access`);
  await owner.getByRole("link", { name: label("Invite a person") }).click();
  await owner.getByLabel(label("E-mail address")).fill("sam@example.org");
  await owner.getByLabel("Role").selectOption(label("staff"));
  await owner.getByRole("button", { name: label("Make the invitation") }).click();
  await owner.getByText("/join/").first().waitFor();
  await expectAccessible(owner);
  const link = /https?:\/\/\S*\/join\/\w+/.exec((await owner.locator("main").innerHTML()) ?? "")?.[0] ?? "";
  await takeScreenshots(owner, "tutorial-invitation", { fullPage: false });

  await owner.goto(`${origin}/access`);
  await owner.getByRole("link", { name: label("New token") }).click();
  await owner.getByLabel(label("Name"), { exact: true }).fill("Triage");
  await owner.getByLabel(label("Read and change everything except sensitive personal data")).check();
  await owner.getByRole("button", { name: label("Make the token") }).click();
  const token = /[0-9a-f]{64}/.exec((await owner.locator("main").innerText()) ?? "")?.[0] ?? "";
  expect(token).not.toBe("");

  const staff = await openPage(browser);
  await makeAccount(staff, `${origin}${new URL(link).pathname}`, tutorial, "Sam Staff", "sam@example.org");
  const agent = (await clients["2026-07-28 over HTTP"]?.(server, token)) as ToolClient;
  const call: CallTool = (name, input) => agent.call(name as "list_programs", { ...input }) as never;
  await tutorial.follow(call, 1);
  await staff.goto(`${origin}${new URL(String(tutorial.known["url"])).pathname}`);
  await expectAccessible(staff);
  expect(await staff.getByRole("button", { name: label("Decline") }).count()).toBe(1);
  await staff.getByRole("button", { name: label("Approve") }).click();
  await staff.getByText("Approved by Sam Staff").waitFor();
  await tutorial.follow(call);
  expect(tutorial.known).toMatchObject({ state: "ELIMINATED" });

  await owner.goto(`${origin}/audit`);
  const row = owner.locator("tr", { hasText: "eliminated" }).first();
  await row.waitFor();
  await owner.context().close();
  await staff.context().close();
});
