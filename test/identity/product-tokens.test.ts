import { readdir, readFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { describe, expect, test } from "vitest";
import type { Scope } from "../../src/contract/access/scopes.ts";
import { createRandomToken } from "../../src/lib/crypto/crypto.ts";
import { onPostgres } from "../support/database/database.ts";
import { listTools, openGateway, postMcp, readCalled, toolNames } from "../support/servers/gateway.ts";
import { openPeopleGateway, type PeopleGateway } from "../support/servers/people-gateway.ts";
import type { TestServer } from "../support/servers/test-server.ts";
import { type BrowserSession, openAs } from "./browser-session.ts";
import { allow, openConsent, TestApp } from "./test-app.ts";

const path = "/product-token";

/** Saves a token, and returns where the page leads. */
async function saveToken(browser: BrowserSession, token: string, owner = "person"): Promise<string> {
  const answer = await browser.submit(`${path}/${owner}`, { token });
  if (answer.status !== 303) throw new Error(`The token was not saved: ${answer.status} ${answer.text}`);
  return answer.headers.get("location") ?? "";
}

async function connectApp(browser: BrowserSession, ...groups: readonly string[]) {
  const app = new TestApp();
  const client = await app.connect(browser.origin, (asked) => allow(browser, asked, ...groups));
  return { app, client, token: app.stored?.access_token ?? "" };
}

/** The content of the tool call's answer. */
async function readRefusal(server: TestServer, token: string) {
  const { isError, content } = await readCalled(server, token, "list_programs", {});
  return isError ? JSON.parse(content[0]?.text ?? "").error : undefined;
}

async function readAudit({ app, businessId }: TestServer, filter: { entityType?: string; action?: string }) {
  await app.pipeline.flush();
  return (await app.store.reader(businessId).pageAudit(filter, { limit: 100 })).rows;
}

const readOnly: readonly Scope[] = ["programs:read", "rounds:read"];

describe("an app in front of a remote product", () => {
  test("leads a person without a product token to the page for it, and then works with the saved token", async () => {
    const { product, server } = await openPeopleGateway();
    await product.seed.program({ name: "Seen by the app" });
    const browser = await openAs(server);
    const app = new TestApp();
    const client = await app.connect(browser.origin, async (asked) => {
      const { path: consent, text } = await openConsent(browser, asked);
      expect(text).toContain("none is saved for you");
      expect(text).not.toContain('value="connect"');
      const denied = await browser.submit(consent, { decision: "connect", group: "read" });
      expect(denied.headers.get("location") ?? "").not.toContain("code=");

      const { path: again } = await openConsent(browser, asked);
      const next = new URLSearchParams({ next: again });
      expect((await browser.open(again)).text).toContain(`href="${path}?${next}"`);
      expect((await browser.open(`${path}?${next}`)).text).toContain("You have saved no token.");
      const saved = await browser.submit(`${path}/person`, { token: await product.token(), next: again });
      const page = await browser.open(saved.headers.get("location") ?? "");
      expect(page.text).toContain(`href="${again}">Go on connecting`);
      return new URL(
        (await browser.submit(again, { decision: "connect", group: "read" })).headers.get("location") ?? "",
      );
    });
    const names = (await client.listTools()).tools.map(({ name }) => name);
    expect(names).toContain("list_programs");
    expect(names).not.toContain("update_program");
    expect(JSON.stringify(await client.callTool({ name: "list_programs", arguments: {} }))).toContain(
      "Seen by the app",
    );

    const user = await server.app.store.users.findByEmail("olga@example.org");
    const [entry] = await readAudit(server, { action: "program.listed" });
    const [connected] = await readAudit(server, { entityType: "app" });
    expect(entry).toMatchObject({
      actorType: "user",
      actorId: user?.userId,
      tokenId: connected?.entityId,
      status: 200,
    });
    expect((await browser.open("/connected-apps")).text).toContain("Test &lt;b&gt;app&lt;/b&gt;");
  });

  test("may do what the person consented to, the role includes and the product token allows", async () => {
    const { product, server } = await openPeopleGateway();
    const owner = await openAs(server);
    const viewer = await openAs(server, { email: "vera@example.org", role: "viewer" });
    await saveToken(owner, await product.token(), "organisation");
    await saveToken(owner, await product.token([...readOnly, "programs:write"]));

    const asOwner = await connectApp(owner, "read", "change");
    const ownNames = await toolNames(server, asOwner.token);
    expect(ownNames).toContain("list_rounds");
    expect(ownNames).not.toContain("list_submissions");
    const asViewer = await connectApp(viewer, "read", "change");
    const viewerNames = await toolNames(server, asViewer.token);
    expect(viewerNames).toContain("list_submissions");
    expect(viewerNames).not.toContain("update_program");
  });

  test("gets an error that says who has to do what, when the token is removed or the product refuses it", async () => {
    const { product, server } = await openPeopleGateway();
    const owner = await openAs(server);
    const viewer = await openAs(server, { email: "vera@example.org", role: "viewer" });
    const [own, shared] = [await product.token(), await product.token()];
    await saveToken(owner, own);
    await saveToken(owner, shared, "organisation");
    const [asOwner, asViewer] = [await connectApp(owner, "read"), await connectApp(viewer, "read")];
    expect(await readRefusal(server, asViewer.token)).toBeUndefined();

    for (const { tokenId } of await product.app.store.listTokens()) {
      await product.app.store.revokeToken(tokenId, product.clock.now().toISOString());
    }
    const refused = await readRefusal(server, asViewer.token);
    expect([refused.code, refused.next]).toEqual([
      "product_token_refused",
      expect.stringContaining("an owner of their organisation must make a new token"),
    ]);
    expect((await readRefusal(server, asOwner.token)).next).toContain("that they must make a new token");
    // It still says so while the refusal is remembered.
    expect((await readRefusal(server, asOwner.token)).code).toBe("product_token_refused");
    expect((await postMcp(server, asOwner.token, listTools)).status).toBe(200);

    await owner.submit(`${path}/organisation/remove`);
    const missing = await readRefusal(server, asViewer.token);
    expect([missing.code, missing.next]).toEqual(["product_token_missing", expect.stringContaining(path)]);
    expect((await readAudit(server, { entityType: "product_token" })).map(({ action }) => action)).toEqual([
      "product_token.removed",
      "product_token.saved",
      "product_token.saved",
    ]);
  });

  test("never works with another person's token, nor one that is copied to its person's row", async () => {
    const { product, server } = await openPeopleGateway();
    const owner = await openAs(server);
    const staff = await openAs(server, { email: "stan@example.org", role: "staff" });
    await saveToken(owner, await product.token());
    await saveToken(staff, await product.token());
    const { token } = await connectApp(staff, "read");
    const { users, productTokens } = server.app.store;
    const [stan, olga] = [await users.findByEmail("stan@example.org"), await users.findByEmail("olga@example.org")];
    const { businessId } = server;
    const stolen = await productTokens.find({ businessId, holderId: olga?.userId ?? "" });
    const before = await productTokens.find({ businessId, holderId: stan?.userId ?? "" });
    if (!stolen || !before) throw new Error("No tokens");
    await staff.submit(`${path}/person/remove`);
    expect((await readRefusal(server, token)).code).toBe("product_token_missing");
    await productTokens.save({ ...before, encrypted: stolen.encrypted });
    expect((await readRefusal(server, token)).code).toBe("product_token_refused");
    expect((await staff.open(path)).text).toContain("cannot decrypt it any more");
  });

  test("ends with one click, while tokens of the product keep working", async () => {
    const { product, server } = await openPeopleGateway();
    const browser = await openAs(server);
    const token = await product.token();
    await saveToken(browser, token);
    const connected = await connectApp(browser, "read");
    const [, end = ""] =
      /action="(\/connected-apps\/[^"]+\/end)"/.exec((await browser.open("/connected-apps")).text) ?? [];
    expect((await postMcp(server, connected.token, listTools)).status).toBe(200);
    await browser.submit(end);
    expect((await postMcp(server, connected.token, listTools)).status).toBe(401);
    expect((await postMcp(server, token, listTools)).status).toBe(200);
  });
});

test("gateway keys and connected apps work side by side", async () => {
  const { server: product, app, caller, admit } = await openGateway("remote");
  const server = { ...product, app };
  const { key, entry } = await caller("crm");
  await admit(entry);
  const browser = await openAs(server);
  const own = await product.token();
  await saveToken(browser, own);
  const { token } = await connectApp(browser, "read");
  for (const accepted of [key, token]) expect((await postMcp(server, accepted, listTools)).status).toBe(200);
  expect((await postMcp(server, own, listTools)).status).toBe(401);
});

describe("a product token", () => {
  test("appears in no page, address, log line or audit entry, and not in the database file", async () => {
    const gateway = await openPeopleGateway();
    const { product, server, database, log } = gateway;
    const browser = await openAs(server);
    const [own, shared] = [await product.token(), await product.token()];
    const addresses = [await saveToken(browser, own), await saveToken(browser, shared, "organisation")];
    const { token, client } = await connectApp(browser, "read");
    const answers = [
      await client.callTool({ name: "list_programs", arguments: {} }),
      await client.callTool({ name: "get_connection", arguments: {} }),
    ];
    addresses.push((await browser.submit(`${path}/person/test`)).headers.get("location") ?? "");
    for (const { tokenId } of await product.app.store.listTokens()) {
      await product.app.store.revokeToken(tokenId, product.clock.now().toISOString());
    }
    const refused = await browser.submit(`${path}/person/test`);
    expect(refused.status).toBe(422);
    const pages = [refused, await browser.open(path), await browser.open("/account"), await browser.open("/access")];
    const shown = JSON.stringify([
      addresses,
      answers,
      await readRefusal(server, token),
      pages.map(({ text, headers }) => [text, [...headers]]),
      log,
      await readAudit(server, { entityType: "product_token" }),
      await readAudit(server, { action: "program.listed" }),
    ]);
    const rows = await server.app.store.users.database.selectFrom("productTokens").selectAll().execute();
    const files = onPostgres ? [] : await readdir(dirname(database));
    const contents = await Promise.all(files.map((name) => readFile(join(dirname(database), name), "latin1")));
    const stored = [JSON.stringify(rows), ...contents];
    for (const secret of [own, shared]) {
      expect(shown.includes(secret)).toBe(false);
      expect(stored.some((content) => content.includes(secret))).toBe(false);
    }
    expect([rows.length, onPostgres || files.includes("gateway.db")]).toEqual([2, true]);
    expect(shown).toContain(own.slice(0, 6));
  });

  test("is saved only if the product accepts it, with the scopes that it was found to have", async () => {
    const { product, server } = await openPeopleGateway();
    const browser = await openAs(server);
    const unknown = createRandomToken();
    for (const token of ["", "secret", unknown]) {
      const { status, text } = await browser.submit(`${path}/person`, { token });
      expect([status, text.includes(unknown)]).toEqual([422, false]);
    }
    expect((await browser.open(path)).text).toContain("You have saved no token.");
    await saveToken(browser, await product.token(readOnly));
    const user = await server.app.store.users.findByEmail("olga@example.org");
    const key = { businessId: server.businessId, holderId: user?.userId ?? "" };
    const saved = await server.app.store.productTokens.find(key);
    expect(saved?.scopes.filter((scope) => scope.endsWith(":read")).toSorted()).toEqual(readOnly.toSorted());
    expect((await browser.open(path)).text).toContain("programs:read, rounds:read");
  });

  test("of the organisation is saved and removed by owners alone, and each by pages of this server alone", async () => {
    const { product, server } = await openPeopleGateway();
    const staff = await openAs(server, { email: "stan@example.org", role: "staff" });
    const token = await product.token();
    for (const form of ["organisation", "organisation/test", "organisation/remove"]) {
      expect((await staff.submit(`${path}/${form}`, { token })).status).toBe(403);
    }
    const forged = await staff.submit(`${path}/person`, { token }, { origin: "https://evil.example" });
    expect(forged.status).toBe(403);
    expect((await staff.open(path)).text).not.toContain('action="/product-token/organisation');
    await staff.submit("/sign-out");
    expect((await staff.open(path)).headers.get("location")).toMatch(/^\/sign-in\?next=/);
    expect((await staff.submit(`${path}/person`, { token })).headers.get("location")).toBe("/sign-in?unsent=");
    expect(await readAudit(server, { entityType: "product_token" })).toEqual([]);
  });

  test("leads back to pages of this server alone", async () => {
    const { product, server } = await openPeopleGateway();
    const browser = await openAs(server);
    await saveToken(browser, await product.token());
    for (const next of ["https://evil.example/", "//evil.example", "/\\evil.example", "javascript:alert(1)"]) {
      const { text } = await browser.open(`${path}?${new URLSearchParams({ next })}`);
      expect([next, text.includes("Go on connecting")]).toEqual([next, false]);
    }
  });

  test("is not sent to another address of the product, and is deleted with its person", async () => {
    const first = await openPeopleGateway();
    const browser = await openAs(first.server);
    await openAs(first.server, { email: "second@example.org" });
    await saveToken(browser, await first.product.token());
    const row = await readRow(first);
    expect(row).toMatchObject({ userId: row?.holderId, baseUrl: first.product.origin });
    const second = await openPeopleGateway();
    const moved = await openAs(second.server);
    const user = await second.server.app.store.users.findByEmail("olga@example.org");
    if (!row || !user) throw new Error("There is no token");
    await second.server.app.store.productTokens.save({ ...row, holderId: user.userId, userId: user.userId });
    expect((await moved.open(path)).text).toContain("cannot decrypt it any more");
    await first.server.app.userAdmin.remove(row.holderId, { actorType: "user", actorId: "command_line" });
    expect(await first.server.app.store.productTokens.find(row)).toBeUndefined();
  });
});

async function readRow({ server }: PeopleGateway) {
  const { users, productTokens } = server.app.store;
  const user = await users.findByEmail("olga@example.org");
  return productTokens.find({ businessId: server.businessId, holderId: user?.userId ?? "" });
}
