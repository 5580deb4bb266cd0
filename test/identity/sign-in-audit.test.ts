import { expect } from "vitest";
import { attemptWindowMinutes, maxAttempts } from "../../src/identity/limits.ts";
import { type TestServer, test } from "../support/servers/test-server.ts";
import { BrowserSession, openAs, password } from "./browser-session.ts";

/** Returns the entries of an action, the newest first. */
async function listEntries({ app, businessId }: TestServer, action: string) {
  return (await app.store.reader(businessId).pageAudit({ action }, { limit: 100 })).rows;
}

async function signIn(server: TestServer, given: string, email = "olga@example.org") {
  const browser = new BrowserSession(server);
  const { status } = await browser.submit("/sign-in", { email, password: given });
  return { browser, status };
}

test("the audit has each sign-in, sign-out and ended session under the person's name, without an address", async ({
  server,
}) => {
  const first = await openAs(server);
  const [user] = await server.app.store.users.list(server.businessId);
  const own = { actorType: "user", actorId: user?.userId, entityType: "user", entityId: user?.userId, status: null };
  const { browser } = await signIn(server, password);
  expect(await listEntries(server, "user.signed_in")).toMatchObject([
    { ...own, changes: [{ path: "signInMethod", from: null, to: "password" }] },
    own,
  ]);
  const [, path = ""] = /action="(\/account\/sessions\/[^"]+\/end)"/.exec((await first.open("/account")).text) ?? [];
  await first.submit(path);
  expect((await browser.open("/account")).status).toBe(303);
  expect(await listEntries(server, "user.session_ended")).toMatchObject([own]);
  const changed = "another horse battery staple";
  await first.submit("/account/password", { current: password, password: changed, repeated: changed });
  expect(await listEntries(server, "user.password_changed")).toMatchObject([own]);
  expect(await listEntries(server, "user.signed_in")).toHaveLength(2);
  await first.submit("/sign-out");
  await first.submit("/sign-out");
  expect(await listEntries(server, "user.signed_out")).toMatchObject([own]);
  const { rows } = await server.app.store.reader(server.businessId).pageAudit({ entityType: "user" }, { limit: 100 });
  expect(JSON.stringify(rows)).not.toMatch(/olga|example\.org|127\.0\.0\.1|::1/i);
});

test("refused attempts are audited once in a window, and shown to people of the account's organisation only", async ({
  server,
}) => {
  const browser = await openAs(server, { role: "viewer" });
  const [user] = await server.app.store.users.list(server.businessId);
  const attack = async (email: string) => {
    for (let made = 0; made < maxAttempts.account + 2; made++) await signIn(server, "wrong password!", email);
  };
  await attack("nobody@example.org");
  await attack("olga@example.org");
  const list = () => listEntries(server, "user.sign_in_refused");
  const refused = { actorType: "system", actorId: "sign_in", entityId: user?.userId, status: 429 };
  await expect.poll(list).toMatchObject([refused]);
  // An address without an account leaves no more than the counts of its attempts.
  const { database } = server.app.store.users;
  const refusals = database.selectFrom("permits").select("tokenId").where("tokenId", "like", "sign-in:refusal:%");
  expect(new Set((await refusals.execute()).map(({ tokenId }) => tokenId)).size).toBe(1);
  server.clock.advance(attemptWindowMinutes * 60_000 + 1);
  await attack("OLGA@example.org");
  await expect.poll(list).toMatchObject([refused, refused]);
  expect(JSON.stringify(await list())).not.toMatch(/olga|nobody/i);

  const { text } = await browser.open("/audit");
  expect(text).toMatch(/Olga Owner.*?user\.signed_in.*?signInMethod.*?password/s);
  expect(text).not.toMatch(/refused \(429\)/);
  const narrowed = await browser.open("/audit?action=user.sign_in_refused");
  expect(narrowed.text).toMatch(/sign_in<\/bdi> <span class="hint">\(this server\).*?refused \(429\)/s);
  const other = await openAs(await server.other(), { email: "eve@example.org" });
  expect((await other.open("/audit?action=user.sign_in_refused")).text).toContain("No entries match.");
});
