import { describe, expect } from "vitest";
import { attemptWindowMinutes, maxAttempts } from "../../src/identity/limits.ts";
import { toUserCaller } from "../../src/pipeline/steps/authenticate.ts";
import { userLinkHours } from "../../src/pipeline/users/user-admin.ts";
import { openTestServer, type TestServer, test } from "../support/servers/test-server.ts";
import { BrowserSession, invite, openAs, password } from "./browser-session.ts";

const hourMs = 3_600_000;

async function readAudit({ app, businessId }: TestServer) {
  return (await app.store.reader(businessId).pageAudit({ entityType: "user" }, { limit: 100 })).rows;
}

describe("signing in", () => {
  test("opens the account, and signing out ends the session", async ({ server }) => {
    await openAs(server);
    const browser = new BrowserSession(server);
    expect((await browser.open("/account")).headers.get("location")).toBe("/sign-in?next=%2Faccount");
    const answer = await browser.submit("/sign-in", { email: "OLGA@example.org", password, next: "/account" });
    expect([answer.status, answer.headers.get("location")]).toEqual([303, "/account"]);
    expect((await browser.open("/account")).text).toContain("Olga Owner");
    const stolen = new Map(browser.cookies);
    expect((await browser.submit("/sign-out")).headers.get("location")).toBe("/sign-in");
    for (const [name, value] of stolen) browser.cookies.set(name, value);
    expect((await browser.open("/account")).status).toBe(303);
  });

  test("begins a new session, whatever session the browser had", async ({ server }) => {
    const victim = await openAs(server, { email: "victim@example.org" });
    const attacker = await openAs(server, { email: "attacker@example.org" });
    const planted = [...attacker.cookies];
    const browser = new BrowserSession(server);
    for (const [name, value] of planted) browser.cookies.set(name, value);
    await browser.submit("/sign-in", { email: "victim@example.org", password });
    expect([...browser.cookies]).not.toEqual(planted);
    expect((await browser.open("/account")).text).toContain("victim@example.org");
    expect((await attacker.open("/account")).text).not.toContain("victim@example.org");
    expect((await victim.open("/account")).status).toBe(200);
  });

  test("answers alike for unknown, invited and disabled people and for a wrong password", async ({ server }) => {
    await openAs(server);
    await openAs(server, { email: "gone@example.org" });
    await invite(server, { email: "invited@example.org" });
    const gone = await server.app.store.users.findByEmail("gone@example.org");
    await server.app.store.users.update(gone?.userId ?? "", { disabledAt: server.clock.now().toISOString() });
    const answers = await Promise.all(
      ["olga", "gone", "invited", "unknown"].map(async (name) => {
        const given = { email: `${name}@example.org`, password: name === "gone" ? password : "wrong horse battery" };
        const { status, text, headers } = await new BrowserSession(server).submit("/sign-in", given);
        return [status, text.replaceAll(given.email, ""), headers.getSetCookie()];
      }),
    );
    expect(answers[0]).toEqual([401, expect.stringContaining("The address or the password is wrong."), []]);
    for (const answer of answers) expect(answer).toEqual(answers[0]);
  });

  test("is limited for each account, known or not, and works again after the window", async ({ server }) => {
    await openAs(server);
    for (const email of ["olga@example.org", "unknown@example.org"]) {
      const attempt = (given: string) => new BrowserSession(server).submit("/sign-in", { email, password: given });
      for (let made = 0; made < maxAttempts.account; made++)
        expect((await attempt("wrong password!")).status).toBe(401);
      const refused = await attempt(password);
      expect([refused.status, Number(refused.headers.get("retry-after")) > 0]).toEqual([429, true]);
      expect(refused.headers.getSetCookie()).toEqual([]);
    }
    server.clock.advance(attemptWindowMinutes * 60_000 + 1);
    const browser = new BrowserSession(server);
    expect((await browser.submit("/sign-in", { email: "olga@example.org", password })).status).toBe(303);
    server.clock.advance(2 * hourMs);
    const { users } = server.app.store;
    expect(await users.sweep(server.clock.now().toISOString(), 100)).toBeGreaterThan(0);
  });

  test("is not limited by successes, which do not make failures forgotten either", async ({ server }) => {
    await openAs(server);
    const signIn = async (given: string) =>
      (await new BrowserSession(server).submit("/sign-in", { email: "olga@example.org", password: given })).status;
    for (let made = 0; made < maxAttempts.account - 1; made++) expect(await signIn("wrong password!")).toBe(401);
    for (let made = 0; made < maxAttempts.account + 1; made++) expect(await signIn(password)).toBe(303);
    expect(await signIn("wrong password!")).toBe(401);
    expect(await signIn(password)).toBe(429);
  });

  test("is limited for guesses that are made at the same time", async ({ server }) => {
    await openAs(server);
    const guess = async () =>
      (await new BrowserSession(server).submit("/sign-in", { email: "olga@example.org", password: "wrong password!" }))
        .status;
    const answers = await Promise.all(Array.from({ length: maxAttempts.account + 5 }, guess));
    expect(answers.filter((status) => status === 401)).toHaveLength(maxAttempts.account);
  });

  test.for([
    "//evil.example",
    "https://evil.example/",
    "/\\evil.example",
    "/\t/evil.example",
    "javascript:alert(1)",
  ])("leads nowhere else: %s", async (next, { server }) => {
    const browser = await openAs(server);
    expect((await browser.open(`/sign-in?${new URLSearchParams({ next })}`)).headers.get("location")).toBe("/");
    const other = new BrowserSession(server);
    const answer = await other.submit("/sign-in", { email: "olga@example.org", password, next });
    expect(answer.headers.get("location")).toBe("/");
  });

  test("says that a form was not saved after the session's end, and leads back to its page", async ({ server }) => {
    const browser = new BrowserSession(server);
    const referer = `${browser.origin}/access/tokens/new?x=1`;
    const refused = await browser.submit("/access/tokens", { name: "Triage" }, { referer });
    expect(refused.headers.get("location")).toBe("/sign-in?next=%2Faccess%2Ftokens%2Fnew%3Fx%3D1&unsent=");
    const page = await browser.open(String(refused.headers.get("location")));
    expect(page.text).toContain("nothing was saved");
    expect(page.text).toContain('name="next" value="/access/tokens/new?x=1"');
    const elsewhere = await browser.submit("/access/tokens", {}, { referer: "https://evil.example//evil.example/" });
    expect((await browser.open(String(elsewhere.headers.get("location")))).text).toContain('name="next" value="/"');
  });

  test("shows what was entered as text", async ({ server }) => {
    const answer = await new BrowserSession(server).submit("/sign-in", {
      email: `"><script>alert(1)</script>`,
      password,
      next: `/"><script>`,
    });
    expect(answer.text).not.toContain("<script>");
  });
});

test("behind https, the session's cookie belongs to this host alone", async () => {
  const { server, close } = await openTestServer({ PROGRAMME_PUBLIC_URL: "https://calls.example.org" });
  const secret = await invite(server, { email: "rita@example.org" });
  const fields = { name: "Rita", password, repeated: password };
  const answer = await new BrowserSession(server).submit(`/join/${secret}`, fields, {
    origin: "https://calls.example.org",
  });
  expect(answer.status).toBe(303);
  const [cookie = ""] = answer.headers.getSetCookie();
  expect(cookie).toMatch(/^__Host-programme\.session=/);
  for (const part of ["Secure", "HttpOnly", "SameSite=Lax", "Path=/"]) expect(cookie.split("; ")).toContain(part);
  expect(cookie).not.toContain("Domain");
  await close();
});

describe("a form", () => {
  test("is accepted only from a page of this server", async ({ server }) => {
    const browser = await openAs(server);
    const foreign: readonly Record<string, string>[] = [
      { origin: "https://evil.example", "sec-fetch-site": "cross-site" },
      { origin: "null" },
      { origin: "" },
      { origin: server.origin },
      { origin: browser.origin, "sec-fetch-site": "same-site" },
    ];
    for (const headers of foreign) {
      for (const path of ["/sign-in", "/sign-out", "/account/password", "/join/x"]) {
        expect([
          path,
          headers,
          (await browser.submit(path, { email: "olga@example.org", password }, headers)).status,
        ]).toEqual([path, headers, 403]);
      }
    }
    expect((await browser.open("/account")).status).toBe(200);
  });

  test("cannot be framed, and its page runs no code of its own", async ({ server }) => {
    const { headers, text } = await new BrowserSession(server).open("/sign-in");
    const policy = headers.get("content-security-policy") ?? "";
    for (const part of ["default-src 'none'", "script-src 'self'", "frame-ancestors 'none'", "base-uri 'none'"]) {
      expect(policy.split("; ")).toContain(part);
    }
    expect(policy).not.toMatch(/unsafe|https?:/);
    expect([headers.get("x-frame-options"), headers.get("cache-control")]).toEqual(["DENY", "no-store"]);
    expect(text).not.toMatch(/<script>|<style|\son\w+=/);
  });
});

describe("a one-time link", () => {
  test("works once, and not after it has expired", async ({ server }) => {
    const browser = new BrowserSession(server);
    const secret = await invite(server, { email: "rita@example.org", role: "staff" });
    const fields = { name: "Rita", password, repeated: password };
    expect((await browser.open(`/join/${secret}`)).text).toContain("rita@example.org");
    expect((await browser.submit(`/join/${secret}`, { ...fields, repeated: "other" })).status).toBe(422);
    expect((await browser.submit(`/join/${secret}`, { ...fields, password: "short", repeated: "short" })).status).toBe(
      422,
    );
    const [first, second] = await Promise.all([
      browser.submit(`/join/${secret}`, fields),
      new BrowserSession(server).submit(`/join/${secret}`, {
        ...fields,
        password: `${password}2`,
        repeated: `${password}2`,
      }),
    ]);
    expect([first.status, second.status].toSorted()).toEqual([303, 404]);
    const late = await invite(server, { email: "late@example.org" });
    server.clock.advance(userLinkHours * hourMs);
    const answers = await Promise.all([secret, late, "0".repeat(64)].map((each) => browser.open(`/join/${each}`)));
    for (const { status, text } of answers) expect([status, text]).toEqual([404, answers[0]?.text]);
    expect((await browser.submit(`/join/${late}`, fields)).status).toBe(404);
  });

  test("for the first owner works until there is a person", async ({ server }) => {
    const { userAdmin } = server.app;
    const [one, two] = [await userAdmin.issueFirstLink(), await userAdmin.issueFirstLink()];
    const fields = { name: "Olga", email: "olga@example.org", password, repeated: password };
    const browser = new BrowserSession(server);
    expect((await browser.submit(`/join/${one}`, { ...fields, email: "nobody" })).status).toBe(422);
    expect((await browser.submit(`/join/${one}`, fields)).status).toBe(303);
    expect((await browser.open("/account")).text).toContain("Owner");
    const other = { ...fields, email: "eve@example.org" };
    expect((await new BrowserSession(server).submit(`/join/${two}`, other)).status).toBe(404);
    expect(await userAdmin.issueFirstLink()).toBeUndefined();
    expect((await server.app.store.users.list()).map(({ email, role }) => [email, role])).toEqual([
      ["olga@example.org", "owner"],
    ]);
  });

  test("for a lost password ends the person's sessions", async ({ server }) => {
    const browser = await openAs(server);
    const user = await server.app.store.users.findByEmail("olga@example.org");
    const author = { actorType: "user", actorId: "command_line" } as const;
    const { secret } = await server.app.userAdmin.issueLink(user?.userId ?? "", author);
    const changed = "another long password";
    const other = new BrowserSession(server);
    expect((await other.submit(`/join/${secret}`, { name: "Olga", password: changed, repeated: changed })).status).toBe(
      303,
    );
    expect((await browser.open("/account")).status).toBe(303);
    expect((await browser.submit("/sign-in", { email: "olga@example.org", password })).status).toBe(401);
  });
});

describe("an account", () => {
  test("lists its sessions, ends one of them, and no other person's", async ({ server }) => {
    const [browser, stranger] = [await openAs(server), await openAs(server, { email: "eve@example.org" })];
    const second = new BrowserSession(server);
    await second.submit("/sign-in", { email: "olga@example.org", password });
    const [, path = ""] =
      /action="(\/account\/sessions\/[^"]+\/end)"/.exec((await browser.open("/account")).text) ?? [];
    await stranger.submit(path);
    expect((await second.open("/account")).status).toBe(200);
    expect((await browser.submit(path)).headers.get("location")).toBe("/account?done=session");
    expect((await second.open("/account")).status).toBe(303);
    expect((await browser.open("/account")).status).toBe(200);
  });

  test("ends all its other sessions at once, and no other person's", async ({ server }) => {
    const [browser, stranger] = [await openAs(server), await openAs(server, { email: "eve@example.org" })];
    const others = [new BrowserSession(server), new BrowserSession(server)];
    for (const other of others) await other.submit("/sign-in", { email: "olga@example.org", password });
    expect((await browser.open("/account")).text).toContain("End all other sessions");
    expect((await browser.submit("/account/sessions/end-others")).headers.get("location")).toBe(
      "/account?done=sessions",
    );
    for (const other of others) expect((await other.open("/account")).status).toBe(303);
    expect((await browser.open("/account")).text).not.toContain("End all other sessions");
    expect((await stranger.open("/account")).status).toBe(200);
  });

  test("changes its password with the current one, and ends the other sessions", async ({ server }) => {
    const browser = await openAs(server);
    const second = new BrowserSession(server);
    await second.submit("/sign-in", { email: "olga@example.org", password });
    const changed = "another long password";
    const fields = { current: password, password: changed, repeated: changed };
    expect((await browser.submit("/account/password", { ...fields, current: "wrong password!" })).status).toBe(422);
    expect((await second.open("/account")).status).toBe(200);
    expect((await browser.submit("/account/password", fields)).headers.get("location")).toBe("/account?done=password");
    expect((await browser.open("/account")).status).toBe(200);
    expect((await second.open("/account")).status).toBe(303);
  });

  test("loses all access when it is disabled; the last owner cannot be", async ({ server }) => {
    const [owner, staff] = [await openAs(server), await openAs(server, { email: "rita@example.org", role: "staff" })];
    const { users } = server.app.store;
    const { userAdmin } = server.app;
    const author = { actorType: "user", actorId: "command_line" } as const;
    const [olga, rita] = await Promise.all([
      users.findByEmail("olga@example.org"),
      users.findByEmail("rita@example.org"),
    ]);
    const disabled = { disabledAt: server.clock.now().toISOString() };
    await userAdmin.update(rita?.userId ?? "", disabled, author);
    expect((await staff.open("/account")).status).toBe(303);
    await expect(userAdmin.update(olga?.userId ?? "", disabled, author)).rejects.toThrow();
    await expect(userAdmin.update(olga?.userId ?? "", { role: "viewer" }, author)).rejects.toThrow();
    await expect(userAdmin.remove(olga?.userId ?? "", author)).rejects.toThrow();
    expect((await owner.open("/account")).status).toBe(200);
    await userAdmin.remove(rita?.userId ?? "", author);
    expect(await users.list()).toHaveLength(1);
  });

  test("is audited without names and addresses", async ({ server }) => {
    await openAs(server, { email: "rita@example.org" });
    const entries = await readAudit(server);
    expect(entries.map(({ action, actorType }) => [action, actorType]).toSorted()).toEqual([
      ["user.invited", "user"],
      ["user.link_used", "user"],
      ["user.signed_in", "user"],
    ]);
    expect(JSON.stringify(entries)).not.toMatch(/rita|olga/i);
  });
});

test("a person who is signed in calls operations with the role's scopes, under the person's name", async ({
  server,
}) => {
  await openAs(server, { email: "vera@example.org", role: "viewer" });
  const user = await server.app.store.users.findByEmail("vera@example.org");
  if (!user) throw new Error("There is no person");
  const call = { token: undefined, caller: toUserCaller(user), requestId: "req_1" };
  const { programId, version } = await server.seed.program();
  const read = await server.app.pipeline.execute({
    ...call,
    operation: "get_program",
    parts: { params: { programId }, query: {}, body: undefined },
  });
  expect(read).toMatchObject({ ok: true, data: { programId } });
  const written = await server.app.pipeline.execute({
    ...call,
    operation: "update_program",
    parts: { params: { programId }, query: {}, body: { version, name: "Other" } },
  });
  expect(written).toMatchObject({ ok: false, problem: { code: "insufficient_scope" } });
  await server.app.pipeline.flush();
  const { rows: items } = await server.app.store
    .reader(server.businessId)
    .pageAudit({ action: "program.read" }, { limit: 10 });
  expect(items).toMatchObject([{ actorType: "user", actorId: user.userId, tokenId: null }]);
});
