import { describe, expect } from "vitest";
import { isScope, readScopes, sensitiveScope } from "../../../src/contract/access/scopes.ts";
import { BrowserSession, invite, openAs, password } from "../../identity/browser-session.ts";
import { type TestServer, test } from "../../support/servers/test-server.ts";

const tokenForm = { name: "Reporting", preset: "read", expires: "30" };

function readSecret(text: string): string {
  return /[0-9a-f]{64}/.exec(text)?.[0] ?? "";
}

async function readAudit({ app, businessId }: TestServer, entityType: string) {
  return (await app.store.reader(businessId).pageAudit({ entityType }, { limit: 100 })).rows;
}

async function findUser({ app }: TestServer, email: string) {
  const user = await app.store.users.findByEmail(email);
  if (!user) throw new Error("There is no such person");
  return user;
}

describe("a token made in the browser", () => {
  test("works, is shown once, and is audited under its maker's name", async ({ server }) => {
    const browser = await openAs(server);
    const made = await browser.submit("/access/tokens", tokenForm);
    const token = readSecret(made.text);
    expect([made.status, made.headers.get("cache-control")]).toEqual([200, "no-store"]);
    const caller = await server.with("REST", token);
    expect(await caller.list_programs()).toEqual([]);
    const [stored] = await server.app.store.listTokens(server.businessId);
    expect(stored?.scopes).toEqual([...readScopes]);
    for (const path of ["/access", `/access/tokens/${stored?.tokenId}`]) {
      const { status, text } = await browser.open(path);
      expect([status, text.includes("Reporting"), text.includes(token)]).toEqual([200, true, false]);
    }
    const owner = await findUser(server, "olga@example.org");
    const [entry] = await readAudit(server, "token");
    expect(entry).toMatchObject({ action: "token.created", actorType: "user", actorId: owner.userId, tokenId: null });
    expect(JSON.stringify(entry)).not.toMatch(/Reporting|[0-9a-f]{64}/);
  });

  test("is edited and revoked, with effect from the next call", async ({ server }) => {
    const browser = await openAs(server);
    const token = readSecret((await browser.submit("/access/tokens", { ...tokenForm, preset: "write" })).text);
    const [stored] = await server.app.store.listTokens(server.businessId);
    const path = `/access/tokens/${stored?.tokenId}`;
    const edited = await browser.submit(path, { name: "Narrow", scope: "programs:read", expires: "never" });
    expect(edited.headers.get("location")).toBe("/access?done=token");
    expect(await server.app.store.getToken(stored?.tokenId ?? "")).toMatchObject({
      name: "Narrow",
      scopes: ["programs:read"],
      expiresAt: null,
    });
    await browser.submit(`${path}/revoke`);
    const caller = await server.with("REST", token);
    await expect(caller.list_programs()).rejects.toMatchObject({ code: "invalid_token" });
    expect((await browser.submit(`${path}/revoke`)).status).toBe(404);
    expect((await browser.open(path)).text).not.toContain('<form method="post" action="/access');
    expect((await readAudit(server, "token")).map(({ action }) => action)).toEqual([
      "token.revoked",
      "token.updated",
      "token.created",
    ]);
  });

  test("never gets a scope that its maker may not grant", async ({ server }) => {
    const browser = await openAs(server);
    const attempts = [
      { ...tokenForm, preset: "all" },
      { ...tokenForm, preset: "chosen", scope: sensitiveScope },
      { ...tokenForm, preset: "chosen" },
      { ...tokenForm, expires: "-1" },
      { ...tokenForm, name: " " },
    ];
    for (const attempt of attempts) expect((await browser.submit("/access/tokens", attempt)).status).toBe(422);
    expect(await server.app.store.listTokens(server.businessId)).toEqual([]);
    await server.token([sensitiveScope]);
    const [stored] = await server.app.store.listTokens(server.businessId);
    const path = `/access/tokens/${stored?.tokenId}`;
    const kept = { name: "x", scope: sensitiveScope, expires: "365" };
    expect((await browser.submit(path, kept)).status).toBe(422);
    expect(await server.app.store.getToken(stored?.tokenId ?? "")).toEqual(stored);
    const trusted = await openAs(server, { email: "rita@example.org", seesSensitive: true });
    expect((await trusted.submit("/access/tokens", { ...tokenForm, preset: "all" })).status).toBe(200);
  });

  test("of another organisation cannot be seen or changed", async ({ server }) => {
    const other = await server.other();
    await other.token(["programs:read"]);
    const [foreign] = await server.app.store.listTokens(other.businessId);
    const browser = await openAs(server);
    const path = `/access/tokens/${foreign?.tokenId}`;
    expect((await browser.open(path)).status).toBe(404);
    expect((await browser.submit(path, { name: "x", scope: "programs:read", expires: "" })).status).toBe(404);
    expect((await browser.submit(`${path}/revoke`)).status).toBe(404);
    expect((await browser.open("/access")).text).not.toContain(foreign?.tokenId);
    expect(await server.app.store.getToken(foreign?.tokenId ?? "")).toEqual(foreign);
  });

  test("shows a hostile name as text", async ({ server }) => {
    const browser = await openAs(server);
    const name = `"><script>alert(1)</script>`;
    expect((await browser.submit("/access/tokens", { ...tokenForm, name })).text).not.toContain("<script>");
    const [stored] = await server.app.store.listTokens(server.businessId);
    for (const path of ["/access", `/access/tokens/${stored?.tokenId}`]) {
      expect((await browser.open(path)).text).not.toContain("<script>");
    }
  });
});

describe("people", () => {
  test("are invited with a link that is shown once and works once", async ({ server }) => {
    const browser = await openAs(server);
    const invited = await browser.submit("/access/people", { email: "vera@example.org", role: "viewer" });
    const link = /\/join\/\S+?(?=<)/.exec(invited.text)?.[0] ?? "";
    const vera = await findUser(server, "vera@example.org");
    for (const path of ["/access", `/access/people/${vera.userId}`]) {
      expect((await browser.open(path)).text).not.toContain(link);
    }
    const guest = new BrowserSession(server);
    const joined = await guest.submit(link, { name: "Vera", password, repeated: password });
    expect(joined.status).toBe(303);
    const again = await browser.submit("/access/people", { email: "vera@example.org", role: "staff" });
    expect([again.status, again.text.includes("already has an account")]).toEqual([422, true]);
    expect((await browser.submit("/access/people", { email: "nobody", role: "staff" })).status).toBe(422);
    expect((await browser.submit("/access/people", { email: "a@example.org", role: "root" })).status).toBe(422);
    const owner = await findUser(server, "olga@example.org");
    const entries = await readAudit(server, "user");
    expect(entries.filter(({ action, actorId }) => action === "user.invited" && actorId === owner.userId)).toHaveLength(
      1,
    );
    expect(JSON.stringify(entries)).not.toMatch(/vera@|olga@/);
  });

  test("get another role, are disabled and enabled, get a new link, and are removed", async ({ server }) => {
    const browser = await openAs(server);
    const staff = await openAs(server, { email: "rita@example.org", role: "staff" });
    const { userId } = await findUser(server, "rita@example.org");
    const path = `/access/people/${userId}`;
    await browser.submit(path, { role: "viewer" });
    expect((await findUser(server, "rita@example.org")).role).toBe("viewer");
    await browser.submit(`${path}/disable`);
    expect((await staff.open("/account")).status).toBe(303);
    await browser.submit(`${path}/enable`);
    const link = /\/join\/\S+?(?=<)/.exec((await browser.submit(`${path}/link`)).text)?.[0] ?? "";
    expect((await new BrowserSession(server).open(link)).status).toBe(200);
    expect((await browser.submit(`${path}/remove`)).headers.get("location")).toBe("/access?done=removed");
    expect(await server.app.store.users.get(userId)).toBeUndefined();
  });

  test("keep an owner who can sign in", async ({ server }) => {
    const browser = await openAs(server);
    const { userId } = await findUser(server, "olga@example.org");
    const path = `/access/people/${userId}`;
    const attempts = [
      await browser.submit(path, { role: "viewer" }),
      await browser.submit(`${path}/disable`),
      await browser.submit(`${path}/remove`),
    ];
    for (const { status, text } of attempts) expect([status, text.includes("only owner")]).toEqual([422, true]);
    expect((await browser.open("/access")).status).toBe(200);
  });

  test("are not managed by an owner who has fewer rights", async ({ server }) => {
    const browser = await openAs(server);
    await openAs(server, { email: "rita@example.org", seesSensitive: true });
    const { userId } = await findUser(server, "rita@example.org");
    const path = `/access/people/${userId}`;
    expect((await browser.open(path)).text).not.toContain(`action="${path}`);
    for (const action of ["", "/link", "/disable", "/remove"]) {
      expect((await browser.submit(`${path}${action}`, { role: "viewer" })).status).toBe(403);
    }
    const own = await findUser(server, "olga@example.org");
    await browser.submit(`/access/people/${own.userId}`, { role: "owner", sensitive: "yes" });
    expect((await findUser(server, "olga@example.org")).seesSensitive).toBe(false);
  });

  test("of another organisation cannot be seen or changed", async ({ server }) => {
    const other = await server.other();
    await invite(other, { email: "eve@example.org" });
    const eve = await findUser(server, "eve@example.org");
    const browser = await openAs(server, { seesSensitive: true });
    const path = `/access/people/${eve.userId}`;
    expect((await browser.open(path)).status).toBe(404);
    for (const action of ["", "/link", "/disable", "/enable", "/remove"]) {
      expect((await browser.submit(`${path}${action}`, { role: "viewer" })).status).toBe(404);
    }
    expect((await browser.open("/access")).text).not.toContain("eve@example.org");
    expect(await server.app.store.users.get(eve.userId)).toEqual(eve);
  });
});

describe("the pages of access", () => {
  test("are open to owners alone, and lead others to the page for signing in", async ({ server }) => {
    const people = [
      await openAs(server, { email: "rita@example.org", role: "staff" }),
      await openAs(server, { email: "vera@example.org", role: "viewer" }),
    ];
    const { userId } = await findUser(server, "vera@example.org");
    const paths = ["/access", "/access/tokens/new", "/access/people/new", `/access/people/${userId}`];
    const forms = ["/access/tokens", "/access/people", `/access/people/${userId}`, `/access/people/${userId}/link`];
    for (const browser of people) {
      for (const path of paths) expect([path, (await browser.open(path)).status]).toEqual([path, 403]);
      for (const path of forms) {
        const fields = { ...tokenForm, role: "owner", email: "x@example.org" };
        expect([path, (await browser.submit(path, fields)).status]).toEqual([path, 403]);
      }
    }
    const stranger = new BrowserSession(server);
    for (const path of paths) expect((await stranger.open(path)).headers.get("location")).toMatch(/^\/sign-in/);
    for (const path of forms) expect((await stranger.submit(path)).headers.get("location")).toMatch(/^\/sign-in/);
    expect(await server.app.store.listTokens(server.businessId)).toEqual([]);
    expect((await findUser(server, "vera@example.org")).role).toBe("viewer");
  });

  test("take no form of another page", async ({ server }) => {
    const browser = await openAs(server);
    for (const headers of [
      { origin: "https://evil.example" },
      { origin: "null" },
      { "sec-fetch-site": "cross-site" },
    ]) {
      for (const path of ["/access/tokens", "/access/people"]) {
        const fields = { ...tokenForm, role: "owner", email: "evil@example.org" };
        expect((await browser.submit(path, fields, headers)).status).toBe(403);
      }
    }
    expect(await server.app.store.listTokens(server.businessId)).toEqual([]);
  });

  test("offer the scopes of the interface, and run no code of their own", async ({ server }) => {
    const browser = await openAs(server);
    const { text, headers } = await browser.open("/access/tokens/new");
    const offered = [...text.matchAll(/name="scope" value="([^"]+)"/g)].map(([, scope]) => String(scope));
    expect(offered.every(isScope)).toBe(true);
    expect(offered).not.toContain(sensitiveScope);
    expect(headers.get("content-security-policy")).toContain("default-src 'none'");
    expect(text).not.toMatch(/<script|<style|\son\w+=/);
  });
});
