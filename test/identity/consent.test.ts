import type { StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { describe, expect, onTestFinished, test as plainTest } from "vitest";
import { sensitiveScope } from "../../src/contract/access/scopes.ts";
import { listTools, postMcp, toolNames } from "../support/servers/gateway.ts";
import { openTestServer, type TestServer, test } from "../support/servers/test-server.ts";
import { askOnce, getCode, getRefresh, sendForm, toAsked } from "./authorization-requests.ts";
import { type BrowserSession, openAs } from "./browser-session.ts";
import { allow, decide, openConsent, TestApp } from "./test-app.ts";

const dayMs = 86_400_000;

/** The boxes of a page of consent, and those that are chosen, by name and value. */
function readBoxes(text: string) {
  const boxes = [...text.matchAll(/<input\s+type="checkbox"\s+name="(group|scope)"\s+value="([^"]+)"\s*(checked)?/g)];
  const all = boxes.map(([, name, value, checked]) => ({ box: `${name} ${value}`, isChosen: checked === "checked" }));
  return { all: all.map(({ box }) => box), chosen: all.filter(({ isChosen }) => isChosen).map(({ box }) => box) };
}

async function connectApp(
  browser: BrowserSession,
  groups: readonly string[],
  further: readonly [string, string][] = [],
) {
  const app = new TestApp();
  const client = await app.connect(browser.origin, async (asked) => {
    const { path } = await openConsent(browser, asked);
    return decide(browser, path, groups, further);
  });
  return { app, client };
}

describe("a person who connects an app", () => {
  test("chooses single scopes of a group, in place of all of it", async ({ server }) => {
    const browser = await openAs(server);
    const { app } = await connectApp(
      browser,
      ["read", "send"],
      [
        ["scope", "programs:read"],
        ["scope", "rounds:write"],
      ],
    );
    const granted = app.stored?.scope?.split(" ").toSorted();
    expect(granted).toEqual(["emails:write", "offline_access", "programs:read", "rounds:write"]);
    const names = await toolNames(server, app.stored?.access_token ?? "");
    expect(names).toContain("list_programs");
    expect(names).not.toContain("list_submissions");
  });

  test("gets nothing for the app that it has not asked for or that the person may not do", async ({ server }) => {
    const browser = await openAs(server);
    const { app } = await askOnce(browser, "programs:read");
    const { path, text } = await openConsent(browser, app);
    expect(readBoxes(text).all).toEqual(["group read"]);
    const further: [string, string][] = ["rounds:read", sensitiveScope, "everything"].map((scope) => ["scope", scope]);
    const refused = await browser.submit(path, new URLSearchParams([["decision", "connect"], ...further]));
    expect(refused.headers.get("location")).toContain("error=access_denied");
  });

  test.for([
    ["1", 1],
    ["30", 30],
    ["90", 90],
    ["100000", 90],
    ["ended", undefined],
  ] as const)("decides how long it stays connected: %s", async ([days, lasts], { server }) => {
    const browser = await openAs(server);
    const { app } = await connectApp(browser, ["read"], [["days", days]]);
    const user = await server.app.store.users.findByEmail("olga@example.org");
    const [connection] = await server.app.store.apps.list(user?.userId ?? "");
    const nowMs = server.clock.now().getTime();
    const expiresAt = lasts === undefined ? null : new Date(nowMs + lasts * dayMs).toISOString();
    expect([connection?.expiresAt, app.stored === undefined]).toEqual([expiresAt, false]);
    expect((await browser.open("/connected-apps")).text.includes(", until ")).toBe(expiresAt !== null);
  });

  test("ends it by the time that was chosen, for calls and for new tokens", async ({ server }) => {
    const browser = await openAs(server);
    const { app } = await connectApp(browser, ["read"], [["days", "1"]]);
    const { database } = server.app.store.users;
    // As if the app had renewed its tokens: these outlast the connection.
    const expiresAt = new Date(server.clock.now().getTime() + 10 * dayMs).toISOString();
    await database.updateTable("oauthAccessTokens").set({ expiresAt }).execute();
    const call = () => postMcp(server, app.stored?.access_token, listTools);
    server.clock.advance(dayMs - 60_000);
    expect((await call()).status).toBe(200);
    server.clock.advance(60_000);
    expect((await call()).status).toBe(401);
    expect((await sendForm(server, "token", getRefresh(app))).body.error).toBe("invalid_grant");
    expect((await browser.open("/connected-apps")).text).toContain("You have connected no app.");
  });
});

describe("an app that needs more", () => {
  test("is told which scope, asks again, and keeps what was allowed before", async ({ server }) => {
    const { programId } = await server.seed.program({ name: "Before" });
    const browser = await openAs(server);
    const { app, client } = await connectApp(
      browser,
      ["read"],
      [
        ["scope", "programs:read"],
        ["scope", "rounds:read"],
      ],
    );
    const change = { name: "update_program", arguments: { programId, version: 0, name: "After" } };
    const refused = await postMcp(server, app.stored?.access_token, {
      jsonrpc: "2.0",
      id: 1,
      method: "tools/call",
      params: change,
    });
    expect([refused.status, refused.headers.get("www-authenticate")]).toEqual([
      403,
      expect.stringMatching(/error="insufficient_scope", scope="programs:write", resource_metadata="http/),
    ]);

    app.authorizationUrl = undefined;
    await expect(client.callTool(change)).rejects.toThrow();
    const { authorizationUrl } = app as TestApp;
    if (!authorizationUrl) throw new Error("The app did not ask");
    const { path, text } = await openConsent(browser, authorizationUrl);
    expect(text).toContain("You have connected this app before.");
    expect(readBoxes(text).chosen).toEqual(["group read"]);
    const answer = await decide(browser, path, ["read", "change"]);
    await (client.transport as StreamableHTTPClientTransport).finishAuth(answer.searchParams);
    expect(app.stored?.scope?.split(" ").toSorted()).toEqual([
      "offline_access",
      "programs:read",
      "programs:write",
      "rounds:read",
    ]);
    expect((await client.callTool(change)).isError).toBeFalsy();
    expect((await (await server.as("REST")).get_program({ programId })).name).toBe("After");
  });

  test("has what was allowed before chosen even if it asks for the new scope alone", async ({ server }) => {
    const browser = await openAs(server, { seesSensitive: true });
    const { query, app } = await askOnce(browser, `programs:read rounds:write programs:write ${sensitiveScope}`);
    const first = await openConsent(browser, app);
    await decide(browser, first.path, ["read", "sensitive"], [["scope", "rounds:write"]]);
    const { text } = await openConsent(browser, toAsked(browser, { ...query, scope: "emails:write tracks:write" }));
    expect(readBoxes(text).chosen).toEqual(["group read", "scope rounds:write", "group sensitive"]);
    expect(readBoxes(text).all).toContain("group send");
  });

  test("loses with its old tokens, too, what the person does not allow again", async ({ server }) => {
    const browser = await openAs(server);
    const { form, clientId } = await getCode(browser, ["read", "change"]);
    const { body } = await sendForm(browser, "token", form);
    expect(await toolNames(server, body.access_token)).toContain("update_program");
    const { query } = await askOnce(browser);
    const { path } = await openConsent(browser, toAsked(browser, { ...query, client_id: clientId }));
    await decide(browser, path, ["read"]);
    expect(await toolNames(server, body.access_token)).not.toContain("update_program");
  });
});

describe("consent", () => {
  test("is asked for whatever the request says, also for an app that is connected", async ({ server }) => {
    const browser = await openAs(server);
    const { query, app } = await askOnce(browser);
    await allow(browser, app, "read", "change", "send", "export");
    for (const change of [{ prompt: "login" }, { prompt: "" }, { group: "change", decision: "connect" }]) {
      const { pathname, search } = toAsked(browser, { ...query, ...(change as Record<string, string>) });
      const location = (await browser.open(`${pathname}${search}`)).headers.get("location") ?? "";
      expect([change, location]).toEqual([change, expect.stringMatching(/^\/connect\/[0-9a-f]{64}$/)]);
    }
  });

  test("is not asked for with prompt=none: the app gets an error, and never a code", async ({ server }) => {
    const browser = await openAs(server);
    const { query, app } = await askOnce(browser);
    await allow(browser, app, "read", "change", "send", "export");
    const askSilently = async (change: Record<string, string> = {}) => {
      const { pathname, search } = toAsked(browser, { ...query, prompt: "none", ...change });
      const { headers, status } = await browser.open(`${pathname}${search}`);
      return { status, location: headers.get("location") ?? "" };
    };
    const readError = async (change?: Record<string, string>) => {
      const { searchParams, origin, pathname } = new URL((await askSilently(change)).location);
      expect(`${origin}${pathname}`).toBe(query.redirect_uri);
      expect(searchParams.get("code")).toBeNull();
      expect(searchParams.get("iss")).toBe(`${browser.origin}/auth`);
      return [searchParams.get("error"), searchParams.get("state")];
    };
    expect(await readError()).toEqual(["consent_required", "s"]);
    expect(await readError({ prompt: "none login" })).toEqual(["consent_required", "s"]);
    expect(await askSilently({ redirect_uri: "https://evil.example/" })).toEqual({ status: 400, location: "" });
    await browser.submit("/sign-out");
    expect(await readError()).toEqual(["login_required", "s"]);
  });

  test("cannot be chosen by the address of its page, nor framed, nor given by opening it", async ({ server }) => {
    const browser = await openAs(server);
    const { app } = await askOnce(browser);
    const { path } = await openConsent(browser, app);
    const { text, headers, status } = await browser.open(`${path}?group=change&scope=emails:write&decision=connect`);
    expect([status, readBoxes(text).chosen]).toEqual([200, ["group read"]]);
    expect(headers.get("x-frame-options")).toBe("DENY");
    expect(headers.get("content-security-policy")).toContain("frame-ancestors 'none'");
    const asking = await browser.open(`${app.pathname}${app.search}`);
    expect(asking.headers.get("x-frame-options")).toBe("DENY");
    const user = await server.app.store.users.findByEmail("olga@example.org");
    expect(await server.app.store.apps.list(user?.userId ?? "")).toEqual([]);
  });
});

describe("a client of two authorization servers", () => {
  async function openTwo() {
    const two = await Promise.all([openTestServer(), openTestServer()]);
    onTestFinished(async () => void (await Promise.all(two.map(({ close }) => close()))));
    return two.map(({ server }) => server) as [TestServer, TestServer];
  }

  plainTest("refuses the answer of the wrong one, and an answer that does not say of whom it is", async () => {
    const [honest, other] = await openTwo();
    const browser = await openAs(honest);
    const wrong: readonly ((answer: URL) => void)[] = [
      (answer) => answer.searchParams.set("iss", `${other.origin.replace("127.0.0.1", "localhost")}/auth`),
      (answer) => answer.searchParams.set("iss", `${browser.origin}/auth/`),
      (answer) => answer.searchParams.delete("iss"),
    ];
    for (const change of wrong) {
      const app = new TestApp();
      const connecting = app.connect(browser.origin, async (asked) => {
        const answer = await allow(browser, asked, "read");
        expect(answer.searchParams.get("iss")).toBe(`${browser.origin}/auth`);
        change(answer);
        return answer;
      });
      await expect(connecting).rejects.toThrow(/iss/i);
      expect(app.stored).toBeUndefined();
    }
  });

  plainTest("gets nothing for a code or a token of one from the other", async () => {
    const [first, second] = await openTwo();
    const [browser, elsewhere] = [await openAs(first), await openAs(second)];
    const { form } = await getCode(browser);
    const { form: theirs } = await getCode(elsewhere);
    for (const injected of [form, { ...theirs, code: form.code }]) {
      expect((await sendForm(elsewhere, "token", injected)).body.access_token).toBeUndefined();
    }
    const { body } = await sendForm(browser, "token", form);
    expect((await postMcp(first, body.access_token, listTools)).status).toBe(200);
    expect((await postMcp(second, body.access_token, listTools)).status).toBe(401);
  });
});
