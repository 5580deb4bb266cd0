import { expect } from "vitest";
import { operationNames } from "../../../src/contract/index.ts";
import { BrowserSession, openAs } from "../../identity/browser-session.ts";
import { test } from "../../support/servers/test-server.ts";

test("the reference has a page for every operation and every record, and no link that leads nowhere", async ({
  server,
}) => {
  const browser = await openAs(server, { role: "viewer" });
  const { text } = await browser.open("/reference");
  const listLinks = (page: string) =>
    [...page.matchAll(/href="(\/reference\/[^"]+)"/g)].map(([, path]) => String(path));
  const paths = new Set(listLinks(text));
  expect([...paths].toSorted()).toEqual(operationNames.map((name) => `/reference/operations/${name}`).toSorted());
  // Pages name further ones while they are visited.
  for (const path of paths) {
    const page = await browser.open(path);
    expect([path, page.status]).toEqual([path, 200]);
    expect(page.text).not.toMatch(/<script|\[object Object\]|undefined/);
    for (const next of listLinks(page.text)) paths.add(next);
  }
  expect(paths).toContain("/reference/records/Submission");
});

test("an operation has a command to copy, which names no real token", async ({ server }) => {
  const browser = await openAs(server);
  const { text } = await browser.open("/reference/operations/eliminate_submission");
  expect(text).toContain("curl -X POST");
  expect(text).toContain("/eliminate");
  expect(text).toContain("&lt;your access token&gt;");
  expect(text).toMatch(/submissions:write/);
});

test("an unknown operation or record is not found, and a stranger signs in first", async ({ server }) => {
  const browser = await openAs(server);
  for (const path of ["/reference/operations/nothing", "/reference/records/constructor"]) {
    expect([path, (await browser.open(path)).status]).toEqual([path, 404]);
  }
  expect((await new BrowserSession(server).open("/reference")).headers.get("location")).toMatch(/^\/sign-in/);
});
