import { expect } from "vitest";
import { BrowserSession, openAs } from "../../identity/browser-session.ts";
import { allow, TestApp } from "../../identity/test-app.ts";
import { openPeopleGateway } from "../../support/servers/people-gateway.ts";
import { type TestServer, test } from "../../support/servers/test-server.ts";

async function changeProgram(server: TestServer, name = "Renamed") {
  const { programId, version } = await server.seed.program();
  const caller = await server.as("REST");
  await caller.update_program({ programId, version, name });
  return programId;
}

async function findActors({ app, businessId }: TestServer) {
  const token = (await app.store.listTokens(businessId)).find(({ name }) => name === "test");
  const [user] = await app.store.users.list(businessId);
  return { tokenId: token?.tokenId ?? "", userId: user?.userId ?? "" };
}

function countRows(text: string): number {
  return [...text.matchAll(/<th role="rowheader"/g)].length;
}

test("the audit shows what a token and a person changed, by name, and narrows to either", async ({ server }) => {
  const browser = await openAs(server);
  const programId = await changeProgram(server);
  await browser.submit("/access/tokens", { name: "Reporting", preset: "read", expires: "30" });
  const all = (await browser.open("/audit")).text;
  for (const shown of ["program.updated", "token.created", "Olga Owner", "test", programId])
    expect(all).toContain(shown);
  const { tokenId, userId } = await findActors(server);
  const byToken = (await browser.open(`/audit?actor=${tokenId}`)).text;
  expect(byToken).toContain("program.updated");
  expect(byToken).not.toContain("token.created");
  const byPerson = (await browser.open(`/audit?actor=${userId}`)).text;
  expect(byPerson).toContain("token.created");
  expect(byPerson).not.toContain("program.updated");
});

test("the audit narrows to a record, an action and days", async ({ server }) => {
  const browser = await openAs(server);
  const programId = await changeProgram(server);
  await changeProgram(server, "Another");
  const count = async (query: string) => countRows((await browser.open(`/audit?${query}`)).text);
  expect(await count(`record=${programId}`)).toBe(1);
  expect(await count("action=program.updated")).toBe(2);
  expect(await count("action=program.updated&from=2026-11-20&to=2026-11-20")).toBe(2);
  expect(await count("action=program.updated&from=2026-11-21")).toBe(0);
  expect(await count("action=program.updated&to=2026-11-19")).toBe(0);
  // The page itself was read.
  await server.app.pipeline.flush();
  expect(await count("action=audit.listed")).toBeGreaterThan(0);
});

test("what is wrong with a filter is linked to its field, and no entries are shown as if it were right", async ({
  server,
}) => {
  const browser = await openAs(server);
  await changeProgram(server);
  for (const [query, input, status] of [
    ["from=yesterday", "from", 422],
    ["to=2026-02-30", "to", 422],
    ["from=2026-12-01&to=2026-01-01", "to", 422],
    ["action=%00", "action", 400],
  ] as const) {
    const answer = await browser.open(`/audit?${query}`);
    expect([query, answer.status, countRows(answer.text)]).toEqual([query, status, 0]);
    expect(answer.text).toContain(`<a href="#${input}">`);
    expect(answer.text).toMatch(
      new RegExp(`<input id="${input}"[^>]* aria-describedby="${input}-mistake" aria-invalid`),
    );
    expect(answer.text).toContain(`id="${input}-mistake"`);
  }
});

test("the audit continues on the next page, within the same search", async ({ server }) => {
  const browser = await openAs(server);
  for (let made = 0; made < 51; made++) {
    await browser.submit("/access/tokens", { name: `Token ${made}`, preset: "read", expires: "30" });
  }
  const first = (await browser.open("/audit?action=token.created")).text;
  expect(countRows(first)).toBe(50);
  const [, next = ""] = /href="(\/audit\?[^"]*cursor=[^"]+)"/.exec(first) ?? [];
  const path = next.replaceAll("&amp;", "&");
  expect(countRows((await browser.open(path)).text)).toBe(1);
  const altered = await browser.open(path.replace("token.created", "token.revoked"));
  expect([altered.status, countRows(altered.text)]).toEqual([400, 0]);
});

test("the audit names the app with which a person acted, and narrows to it", async ({ server }) => {
  const browser = await openAs(server);
  const connect = async (name: string) => {
    const app = new TestApp();
    app.clientMetadata.client_name = name;
    return app.connect(browser.origin, (asked) => allow(browser, asked, "read"));
  };
  const [planner] = [await connect("Planner"), await connect("Other")];
  await planner.callTool({ name: "list_programs", arguments: {} });
  await server.app.pipeline.flush();
  const { text } = await browser.open("/audit?action=program.listed");
  expect(text).toContain("With <bdi>Planner (app of Olga Owner)</bdi>");
  const narrowTo = async (name: string) => {
    const [, actor] = new RegExp(`<option value="(app_[^"]+)"[^>]*>${name}`).exec(text) ?? [];
    return countRows((await browser.open(`/audit?action=program.listed&actor=${actor}`)).text);
  };
  expect([await narrowTo("Planner"), await narrowTo("Other")]).toEqual([1, 0]);
  const other = await openAs(await server.other(), { email: "eve@example.org" });
  expect((await other.open("/audit")).text).not.toContain("Planner");
});

test("the audit names the person who approved a change", async ({ server }) => {
  const browser = await openAs(server, { email: "vera@example.org", role: "viewer" });
  const { userId } = await findActors(server);
  const programId = await changeProgram(server);
  const [entry] = (await server.app.store.reader(server.businessId).pageAudit({ programId }, { limit: 1 })).rows;
  if (!entry) throw new Error("There is no entry");
  const approved = { ...entry, auditId: "aud_approved", approvedBy: userId };
  const { app, businessId, clock } = server;
  const actor = { businessId, actorId: userId, now: clock.now().toISOString() };
  await app.store.transaction(actor, (transaction) => transaction.appendAudit([approved]));
  expect((await browser.open("/audit")).text).toContain("Approved by <bdi>Olga Owner</bdi>");
});

test("the audit shows hostile values as text, and nothing of another organisation", async ({ server }) => {
  const other = await server.other();
  const foreign = await changeProgram(other);
  const browser = await openAs(server);
  await changeProgram(server, "<script>alert(1)</script>");
  const { text } = await browser.open("/audit");
  expect(text).toContain("&lt;script&gt;");
  expect(text).not.toContain("<script>");
  expect(text).not.toContain(foreign);
  expect(countRows((await browser.open(`/audit?record=${foreign}`)).text)).toBe(0);
  const query = new URLSearchParams({ action: `"><script>`, record: `"><script>`, actor: `"><script>` });
  expect((await browser.open(`/audit?${query}`)).text).not.toContain("<script>");
  expect((await new BrowserSession(server).open("/audit")).headers.get("location")).toMatch(/^\/sign-in/);
});

test("in front of a remote product, the audit shows sign-ins, product tokens and calls of apps, and no records", async () => {
  const { product, server } = await openPeopleGateway();
  await product.seed.program({ name: "Of the product" });
  const browser = await openAs(server);
  await browser.submit("/product-token/person", { token: await product.token() });
  const app = new TestApp();
  app.clientMetadata.client_name = "Planner";
  const client = await app.connect(browser.origin, (asked) => allow(browser, asked, "read"));
  await client.callTool({ name: "list_programs", arguments: {} });
  await server.app.pipeline.flush();

  const { status, text } = await browser.open("/audit");
  expect([status, text.includes("This is the audit of this server")]).toEqual([200, true]);
  for (const shown of ["product_token.saved", "app.connected", "Olga Owner"]) expect(text).toContain(shown);
  const calls = (await browser.open("/audit?action=program.listed")).text;
  expect(calls).toContain("With <bdi>Planner (app of Olga Owner)</bdi>");
  expect(calls).not.toContain("Of the product");
  const signIns = (await browser.open("/audit?action=user.signed_in")).text;
  expect([countRows(signIns), signIns.includes("Olga Owner")]).toEqual([1, true]);

  const viewer = await openAs(server, { email: "vera@example.org", role: "viewer" });
  expect((await viewer.open("/audit")).text).toContain("product_token.saved");
  expect((await viewer.open("/integrations")).status).toBe(403);
  for (const path of ["/integrations", "/reference", "/programmes"]) {
    const page = await browser.open(path);
    expect([path, page.status, page.text.includes("works with the records of another service")]).toEqual([
      path,
      200,
      true,
    ]);
  }
});
