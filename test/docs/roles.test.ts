import { readFile } from "node:fs/promises";
import { expect } from "vitest";
import { type Role, roles } from "../../src/contract/access/roles.ts";
import { openAs } from "../identity/browser-session.ts";
import { test } from "../support/servers/test-server.ts";

const docs = new URL("../../docs/", import.meta.url);

/** Reads which roles open which paths from the page of people. */
async function readRights(): Promise<{ path: string; allowed: Role[] }[]> {
  const page = await readFile(new URL("people.md", docs), "utf8");
  const rows = [...page.matchAll(/^\| [^|]+ \| `(\/[^`]*)` \| ([^|]+) \| ([^|]+) \| ([^|]+) \|$/gm)];
  return rows.map(([, path = "", ...rights]) => ({
    path,
    allowed: roles.filter((_, index) => rights[index] !== "–"),
  }));
}

test("each role opens the pages that the documentation gives it, and no others", async ({ server }) => {
  const rights = await readRights();
  expect(rights.length).toBeGreaterThan(12);
  for (const role of roles) {
    const browser = await openAs(server, { email: `${role}@example.org`, role });
    const opened = [];
    for (const { path } of rights) {
      const { status } = await browser.open(path);
      expect([200, 403]).toContain(status);
      if (status === 200) opened.push(path);
    }
    expect([role, opened]).toEqual([
      role,
      rights.filter(({ allowed }) => allowed.includes(role)).map(({ path }) => path),
    ]);
  }
});

test("the lists of people, tokens, apps and endpoints are in no answer to a role that does not manage them", async ({
  server,
}) => {
  const owner = await openAs(server, { email: "olga@example.org" });
  await owner.submit("/access/tokens", { name: "Hidden token", preset: "read", expires: "30" });
  await owner.submit("/integrations/endpoints", { url: "https://hooks.example.org/hidden" });
  expect((await owner.open("/access")).text).toContain("Hidden token");
  expect((await owner.open("/integrations")).text).toContain("hooks.example.org/hidden");
  const rights = await readRights();
  for (const [role, hidden] of [
    ["staff", /olga@example\.org/],
    ["viewer", /olga@example\.org|hooks\.example\.org/],
  ] as const) {
    const browser = await openAs(server, { email: `${role}@example.org`, role });
    for (const { path } of rights) {
      const { text } = await browser.open(path);
      expect([role, path, hidden.exec(text)?.[0]]).toEqual([role, path, undefined]);
      // The first page and the audit name tokens with what they did.
      if (path !== "/" && path !== "/audit") expect([path, text.includes("Hidden token")]).toEqual([path, false]);
    }
  }
});
