import { describe, expect } from "vitest";
import { sensitiveScope } from "../../src/contract/access/scopes.ts";
import { appIdleDays, maxAttempts } from "../../src/identity/limits.ts";
import { send } from "../support/clients/raw-http.ts";
import { listTools, postMcp, readCalled, toolNames } from "../support/servers/gateway.ts";
import { type TestServer, test } from "../support/servers/test-server.ts";
import { askOnce, getCode, getRefresh, register, sendForm, toAsked } from "./authorization-requests.ts";
import { type BrowserSession, openAs } from "./browser-session.ts";
import { allow, callback, openConsent, TestApp } from "./test-app.ts";

/** Connects a new app that may read. */
async function connectApp(server: TestServer, groups: readonly string[] = ["read"]) {
  const browser = await openAs(server);
  const app = new TestApp();
  const client = await app.connect(browser.origin, (authorizationUrl) => allow(browser, authorizationUrl, ...groups));
  return { browser, app, client, call: () => postMcp(server, app.stored?.access_token, listTools) };
}

async function readAudit({ app, businessId }: TestServer, action: string) {
  const { rows } = await app.store.reader(businessId).pageAudit({ entityType: "app" }, { limit: 100 });
  return rows.filter((row) => row.action === action);
}

describe("an app that registers", () => {
  test("connects with nothing but the address, lists the tools and calls one", async ({ server }) => {
    await server.seed.program({ name: "Seen by the app" });
    const { client, app, browser } = await connectApp(server);
    const names = (await client.listTools()).tools.map(({ name }) => name);
    expect(names).toContain("list_programs");
    expect(names).not.toContain("update_program");
    expect(JSON.stringify(await client.callTool({ name: "list_programs", arguments: {} }))).toContain(
      "Seen by the app",
    );

    await server.app.pipeline.flush();
    const user = await server.app.store.users.findByEmail("olga@example.org");
    const [connected] = await readAudit(server, "app.connected");
    expect(connected).toMatchObject({ actorType: "user", actorId: user?.userId });
    const { rows } = await server.app.store
      .reader(server.businessId)
      .pageAudit({ action: "program.listed" }, { limit: 9 });
    expect(rows[0]).toMatchObject({ actorType: "user", actorId: user?.userId, tokenId: connected?.entityId });
    const page = (await browser.open("/connected-apps")).text;
    expect(page).toContain("Test &lt;b&gt;app&lt;/b&gt;");
    expect(
      JSON.stringify(await server.app.store.users.database.selectFrom("oauthAccessTokens").selectAll().execute()),
    ).not.toContain(app.stored?.access_token);
  });

  test("works beside access tokens, and reaches MCP alone", async ({ server }) => {
    const { app, call } = await connectApp(server);
    expect((await call()).status).toBe(200);
    expect((await postMcp(server, await server.token(), listTools)).status).toBe(200);
    const headers = { authorization: `Bearer ${app.stored?.access_token}` };
    expect((await send(`${server.origin}/integrations/v1/programs`, { headers })).status).toBe(401);
  });
});

describe("the page of consent", () => {
  test("shows who asks for what, and has reading chosen alone", async ({ server }) => {
    const browser = await openAs(server, { seesSensitive: true });
    const { app } = await askOnce(browser);
    const { text, headers } = await openConsent(browser, app);
    expect(text).toContain("Test &lt;b&gt;app&lt;/b&gt;");
    expect(text).toContain(server.businessId);
    expect(text).toContain(`${appIdleDays} days`);
    const boxes = [...text.matchAll(/<input\s+type="checkbox"\s+name="group"\s+value="(\w+)"\s*(checked)?/g)];
    expect(boxes.map(([, name, checked]) => [name, checked === "checked"])).toEqual([
      ["read", true],
      ["change", false],
      ["send", false],
      ["export", false],
    ]);
    expect(headers.get("content-security-policy")).toContain(`form-action 'self' ${new URL(callback).origin}`);
  });

  test("grants at most what the person may do, now and later", async ({ server }) => {
    const owner = await openAs(server);
    const viewer = await openAs(server, { email: "vera@example.org", role: "viewer" });
    const { app } = await askOnce(viewer, `programs:read programs:write ${sensitiveScope}`);
    const { path, text } = await openConsent(viewer, app);
    expect(text).not.toMatch(/value="(change|sensitive)"/);
    expect(text).toContain("which your own rights do not include");
    expect((await viewer.submit(path, { decision: "connect", group: "change" })).headers.get("location")).toContain(
      "error=access_denied",
    );
    expect((await owner.open("/connected-apps")).text).toContain("You have connected no app.");
  });

  test("belongs to the session that was asked, and is answered once", async ({ server }) => {
    const browser = await openAs(server);
    const other = await openAs(server, { email: "eve@example.org" });
    const { app } = await askOnce(browser);
    const { path } = await openConsent(browser, app);
    const form = { decision: "connect", group: "read" };
    expect((await other.open(path)).status).toBe(404);
    expect((await other.submit(path, form)).status).toBe(404);
    expect((await browser.submit(path, form, { origin: "https://evil.example" })).status).toBe(403);
    expect((await browser.submit(path, { decision: "connect" })).status).toBe(422);
    expect((await browser.submit(path, form)).headers.get("location")).toContain("code=");
    expect((await browser.submit(path, form)).status).toBe(404);
    expect((await browser.open(path)).status).toBe(404);
    // An app that was connected before is asked for again: it cannot prove that it is the same.
    expect((await openConsent(browser, app)).text).toContain("What the app may do");
  });

  test("answers a refusal to the app, and connects nothing", async ({ server }) => {
    const browser = await openAs(server);
    const { app } = await askOnce(browser);
    const { path } = await openConsent(browser, app);
    const answer = new URL((await browser.submit(path, { decision: "decline" })).headers.get("location") ?? "");
    expect(Object.fromEntries(answer.searchParams)).toMatchObject({
      error: "access_denied",
      state: "s",
      iss: `${browser.origin}/auth`,
    });
    expect(await readAudit(server, "app.connected")).toEqual([]);
  });
});

describe("a request for authorization", () => {
  test("is refused without PKCE, for another resource, for unknown scopes and for other answers", async ({
    server,
  }) => {
    const browser = await openAs(server);
    const { query } = await askOnce(browser);
    const refused: readonly Record<string, string | undefined>[] = [
      { code_challenge: undefined, code_challenge_method: undefined },
      { code_challenge_method: "plain" },
      { resource: "https://other.example/mcp" },
      { scope: "everything" },
      { response_type: "token" },
    ];
    for (const change of refused) {
      const answer = await openChanged(browser, query, change);
      expect(answer.headers.get("location") ?? "", JSON.stringify(change)).not.toMatch(/\/connect\/|code=/);
      expect([303, 400]).toContain(answer.status);
    }
  });

  test("never sends a browser to an address that the app has not registered", async ({ server }) => {
    const browser = await openAs(server);
    const { query } = await askOnce(browser);
    const refused: readonly Record<string, string>[] = [
      { redirect_uri: "https://evil.example/callback" },
      { redirect_uri: "http://127.0.0.1:33418/other" },
      { redirect_uri: "http://localhost:33418/callback" },
      { redirect_uri: `${callback}/../x` },
      { client_id: "ocl_unknown" },
    ];
    for (const change of refused) {
      const answer = await openChanged(browser, query, change);
      expect([change, answer.status, answer.headers.get("location")]).toEqual([change, 400, null]);
      expect(answer.text).toContain("This app cannot be connected");
    }
  });

  test("accepts any port of this machine for an installed app", async ({ server }) => {
    const browser = await openAs(server);
    const { query } = await askOnce(browser);
    const answer = await openChanged(browser, query, { redirect_uri: "http://127.0.0.1:50123/callback" });
    expect(answer.headers.get("location")).toMatch(/^\/connect\//);
  });

  test("leads a visitor through signing in, and answers alike whether or not there are accounts", async ({
    server,
  }) => {
    const browser = await openAs(server);
    const { query } = await askOnce(browser);
    await browser.submit("/sign-out");
    const answer = await openChanged(browser, query, {});
    expect(answer.headers.get("location")).toMatch(/^\/sign-in\?next=%2Fauth%2Foauth2%2Fauthorize/);
  });

  function openChanged(
    browser: BrowserSession,
    query: Record<string, string>,
    change: Record<string, string | undefined>,
  ) {
    const changed = Object.entries({ ...query, ...change }).filter(([, value]) => value !== undefined);
    const { pathname, search } = toAsked(browser, Object.fromEntries(changed) as Record<string, string>);
    return browser.open(`${pathname}${search}`);
  }
});

describe("a code", () => {
  test("is exchanged once; a second exchange ends what the first one gave", async ({ server }) => {
    const browser = await openAs(server);
    const { form } = await getCode(browser);
    const first = await sendForm(browser, "token", form);
    expect(first.body).toMatchObject({ token_type: "Bearer", scope: "programs:read offline_access" });
    expect((await postMcp(server, first.body.access_token, listTools)).status).toBe(200);
    expect((await sendForm(browser, "token", form)).body.error).toBe("invalid_grant");
    expect((await postMcp(server, first.body.access_token, listTools)).status).toBe(401);
  });

  test("is not exchanged with another verifier, redirect address or resource", async ({ server }) => {
    const browser = await openAs(server);
    const wrong: readonly Record<string, string>[] = [
      { code_verifier: "w".repeat(50) },
      { code_verifier: "" },
      { redirect_uri: "http://127.0.0.1:1/callback" },
      { resource: "https://other.example/mcp" },
    ];
    for (const change of wrong) {
      const { form } = await getCode(browser);
      const answer = await sendForm(browser, "token", { ...form, ...change });
      expect(answer.status, JSON.stringify(change)).toBeGreaterThanOrEqual(400);
      expect(answer.body.access_token).toBeUndefined();
      if (change["code_verifier"]) expect([answer.status, answer.body.error]).toEqual([400, "invalid_grant"]);
    }
  });

  test("is not exchanged by another app into which it was injected", async ({ server }) => {
    const browser = await openAs(server);
    const [victim, attacker] = [await getCode(browser), await getCode(browser)];
    const answer = await sendForm(browser, "token", { ...victim.form, client_id: attacker.clientId });
    expect([answer.status, answer.body.error]).toEqual([400, "invalid_grant"]);
  });
});

describe("what an app got", () => {
  test("is renewed with a new refresh token each time; an old one that is used again ends it all", async ({
    server,
  }) => {
    const { app, call } = await connectApp(server);
    const before = app.stored;
    const renewed = await sendForm(server, "token", getRefresh(app));
    expect(renewed.status).toBe(200);
    expect(renewed.body.refresh_token).not.toBe(before?.refresh_token);
    expect((await postMcp(server, renewed.body.access_token, listTools)).status).toBe(200);
    expect((await sendForm(server, "token", getRefresh(app, before?.refresh_token))).body.error).toBe("invalid_grant");
    expect((await postMcp(server, renewed.body.access_token, listTools)).status).toBe(401);
    expect((await call()).status).toBe(401);
    expect((await sendForm(server, "token", getRefresh(app, renewed.body.refresh_token))).body.error).toBe(
      "invalid_grant",
    );
  });

  test("ends with one click of the person, from the next call on, and with no other person's", async ({ server }) => {
    const { browser, app, call } = await connectApp(server);
    const stranger = await openAs(server, { email: "eve@example.org" });
    const [, path = ""] =
      /action="(\/connected-apps\/[^"]+\/end)"/.exec((await browser.open("/connected-apps")).text) ?? [];
    await stranger.submit(path);
    expect((await call()).status).toBe(200);
    expect((await browser.submit(path)).headers.get("location")).toBe("/connected-apps?done=ended");
    expect((await call()).status).toBe(401);
    expect((await sendForm(server, "token", getRefresh(app))).body.error).toBe("invalid_grant");
    expect((await browser.open("/connected-apps")).text).toContain("You have connected no app.");
    expect(await readAudit(server, "app.disconnected")).toHaveLength(1);
  });

  test("is seen and ended by an owner of the same organisation alone, which the audit says", async ({ server }) => {
    const owner = await openAs(server, { email: "owner@example.org" });
    const staff = await openAs(server, { email: "stan@example.org", role: "staff" });
    const stranger = await openAs(await server.other(), { email: "eve@example.org" });
    const app = new TestApp();
    await app.connect(staff.origin, (asked) => allow(staff, asked, "read"));
    const call = () => postMcp(server, app.stored?.access_token, listTools);
    await readCalled(server, app.stored?.access_token ?? "", "list_programs", {});
    await server.app.pipeline.flush();
    const user = await server.app.store.users.findByEmail("stan@example.org");
    const [connection] = await server.app.store.apps.list(user?.userId ?? "");
    expect(connection?.lastUsedAt).toBe(server.clock.now().toISOString());
    const path = `/access/apps/${connection?.connectionId}`;
    expect((await owner.open("/access")).text).toContain(`href="${path}"`);
    const { text } = await owner.open(path);
    for (const shown of ["Test &lt;b&gt;app&lt;/b&gt;", "programs:read", "Olga Owner"]) expect(text).toContain(shown);
    expect((await stranger.open("/access")).text).not.toContain(path);
    for (const [browser, status] of [
      [staff, 403],
      [stranger, 404],
    ] as const) {
      expect([(await browser.open(path)).status, (await browser.submit(`${path}/end`)).status]).toEqual([
        status,
        status,
      ]);
    }
    expect((await call()).status).toBe(200);
    expect((await owner.submit(`${path}/end`)).headers.get("location")).toBe("/access?done=app");
    expect((await call()).status).toBe(401);
    const author = await server.app.store.users.findByEmail("owner@example.org");
    expect(await readAudit(server, "app.disconnected")).toMatchObject([
      { actorType: "user", actorId: author?.userId, entityId: connection?.connectionId },
    ]);
  });

  test("ends when the app revokes it", async ({ server }) => {
    const { app, call } = await connectApp(server);
    const client_id = app.information?.client_id ?? "";
    const revoked = await sendForm(server, "revoke", { token: app.stored?.refresh_token ?? "", client_id });
    expect(revoked.status).toBe(200);
    expect((await call()).status).toBe(401);
    expect((await sendForm(server, "token", getRefresh(app))).body.error).toBe("invalid_grant");
  });

  test("shrinks with the person's role, and ends with the account", async ({ server }) => {
    const { app, call } = await connectApp(server, ["read", "change"]);
    const { users } = server.app.store;
    const user = await users.findByEmail("olga@example.org");
    const listNames = () => toolNames(server, app.stored?.access_token ?? "");
    expect(await listNames()).toContain("update_program");
    await users.update(user?.userId ?? "", { role: "viewer" });
    expect(await listNames()).not.toContain("update_program");
    await users.update(user?.userId ?? "", { disabledAt: server.clock.now().toISOString() });
    expect((await call()).status).toBe(401);
  });

  test("ends with its time", async ({ server }) => {
    const { call } = await connectApp(server);
    server.clock.advance(365 * 86_400_000);
    expect((await call()).status).toBe(401);
  });
});

describe("registration", () => {
  test("refuses addresses to which no code may be sent", async ({ server }) => {
    const refused = [
      "http://app.example/callback",
      "javascript:alert(1)",
      "data:text/html,x",
      "https://app.example/#x",
    ];
    for (const redirect_uris of [...refused.map((address) => [address]), []]) {
      const { status, body } = await register(server.origin, { redirect_uris });
      expect([redirect_uris, status, body.error]).toEqual([redirect_uris, 400, "invalid_redirect_uri"]);
    }
  });

  test("keeps nothing but what is used", async ({ server }) => {
    const { status, body } = await register(server.origin, {
      logo_uri: "https://x.example/",
      jwks_uri: "https://x.example/",
      skip_consent: true,
    });
    expect([status, body.logo_uri, body.jwks_uri, body.skip_consent]).toEqual([201, undefined, undefined, undefined]);
  });

  test("removes what would reorder the name of an app and the texts beside it", async ({ server }) => {
    const { body } = await register(server.origin, { client_name: " \u202eelgoog.example\u0000 " });
    expect(body.client_name).toBe("elgoog.example");
    expect((await register(server.origin, { client_name: "\u202e" })).status).toBe(400);
  });

  test("is limited for each network address, and forgets apps that no one connects", async ({ server }) => {
    await connectApp(server);
    for (let made = 1; made < maxAttempts.registration; made++)
      expect((await register(server.origin)).status).toBe(201);
    const refused = await register(server.origin);
    expect([refused.status, Number(refused.headers.get("retry-after")) > 0]).toEqual([429, true]);
    const { database } = server.app.store.users;
    const count = async () => (await database.selectFrom("oauthClients").selectAll().execute()).length;
    expect(await count()).toBe(maxAttempts.registration);
    await server.app.store.apps.evictClients(5);
    expect(await count()).toBe(6);
    server.clock.advance(7 * 86_400_000);
    await server.app.retention?.sweep();
    expect(await count()).toBe(1);
  });
});
