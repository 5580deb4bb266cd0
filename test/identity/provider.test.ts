import { expect, test } from "vitest";
import { maxAttempts } from "../../src/identity/limits.ts";
import { openProvider, type ProviderClaims, providerClient } from "../support/servers/openid-provider.ts";
import { openTestServer } from "../support/servers/test-server.ts";
import { BrowserSession, invite } from "./browser-session.ts";

const rita: ProviderClaims = { sub: "1", email: "rita@example.org", email_verified: true, name: "Rita Reader" };

/** A server with an external provider, a browser for it, and the steps of a sign-in. */
async function openScene() {
  const provider = await openProvider();
  const { server, close } = await openTestServer({
    PROGRAMME_SIGN_IN_ISSUER: provider.issuer,
    PROGRAMME_SIGN_IN_CLIENT_ID: providerClient.clientId,
    PROGRAMME_SIGN_IN_CLIENT_SECRET: providerClient.clientSecret,
    PROGRAMME_SIGN_IN_NAME: "Example Fund",
  });
  const browser = new BrowserSession(server);
  const start = async (from = browser, next = "/account") => {
    const answer = await from.open(`/sign-in/organisation?${new URLSearchParams({ next })}`);
    return answer.headers.get("location") ?? "";
  };
  const toPath = (url: string) => url.slice(browser.origin.length);
  const startProvider = () => provider.start(`${browser.origin}/auth/callback/organisation`);
  return {
    ...{ provider, server, browser, close, start, startProvider },
    /** Signs in at the provider. Returns the path back. */
    passProvider: async (claims: ProviderClaims, from = browser, next?: string) =>
      toPath(await provider.signIn(await start(from, next), claims)),
  };
}

const refused = "/sign-in?next=%2Faccount&error=provider";

test("a person who was invited signs in at the provider, and gets to the page that was asked for", async () => {
  const { server, browser, startProvider, passProvider, close } = await openScene();
  startProvider();
  await invite(server, { email: "rita@example.org", role: "staff" });
  expect((await browser.open("/sign-in?next=/account")).text).toContain("Sign in with Example Fund");
  const next = "/account?done=session&more=a:b,c(d)~e";
  const callback = await passProvider({ ...rita, role: "owner", businessId: "biz_two" }, browser, next);
  expect((await browser.open(callback)).headers.get("location")).toBe(next);
  expect((await browser.open("/account")).text).toContain("Rita Reader");
  // Afterwards the provider's name for the person counts, whatever the address.
  const other = new BrowserSession(server);
  const renamed = { ...rita, email: "rita.new@example.org", name: "Other" };
  const back = await other.open(await passProvider(renamed, other, "//evil.example"));
  expect(back.headers.get("location")).toBe("/");
  expect((await other.open("/account")).text).toContain("rita@example.org");
  expect(await server.app.store.users.list()).toMatchObject([
    { name: "Rita Reader", email: "rita@example.org", role: "staff", businessId: server.businessId },
  ]);
  const { rows } = await server.app.store
    .reader(server.businessId)
    .pageAudit({ action: "user.signed_in" }, { limit: 9 });
  const change = { path: "signInMethod", from: null, to: "provider" };
  expect(rows.map(({ changes }) => changes)).toEqual([[change], [change]]);
  const credentials = await server.app.store.users.database.selectFrom("userCredentials").selectAll().execute();
  expect(credentials).toMatchObject([{ accountId: "1", accessToken: null, refreshToken: null, idToken: null }]);
  await close();
});

test("people without an invitation, a verified address or access are refused alike, and get no account", async () => {
  const { server, browser, startProvider, passProvider, close } = await openScene();
  startProvider();
  await invite(server, { email: "rita@example.org" });
  await invite(server, { email: "gone@example.org" });
  const { users } = server.app.store;
  const gone = await users.findByEmail("gone@example.org");
  await users.update(gone?.userId ?? "", { disabledAt: server.clock.now().toISOString() });
  const strangers: readonly ProviderClaims[] = [
    { sub: "2", email: "eve@example.org", email_verified: true },
    { sub: "3", email: "rita@example.org", email_verified: false },
    { sub: "4", email: "rita@example.org" },
    { sub: "5", email: "rita@example.org", email_verified: "true" },
    { sub: "6", email_verified: true },
    { sub: "7", email: "gone@example.org", email_verified: true },
  ];
  for (const claims of strangers) {
    const { headers } = await browser.open(await passProvider(claims));
    expect([claims.sub, headers.get("location")]).toEqual([claims.sub, refused]);
    expect((await browser.open("/account")).status).toBe(303);
  }
  expect((await browser.open(refused)).text).toContain("Your organisation&#39;s sign-in did not work.");
  expect((await users.list()).map(({ email, name }) => [email, name])).toEqual([
    ["rita@example.org", ""],
    ["gone@example.org", expect.any(String)],
  ]);
  await close();
});

test("the way back works once, in the browser that began, and with the token that was made for it", async () => {
  const { server, provider, browser, start, startProvider, passProvider, close } = await openScene();
  startProvider();
  await invite(server, { email: "rita@example.org" });
  const isSignedIn = async (from: BrowserSession) => (await from.open("/account")).status === 200;

  const callback = await passProvider(rita);
  const victim = new BrowserSession(server);
  await victim.open(callback);
  await start(victim);
  await victim.open(callback);
  expect(await isSignedIn(victim)).toBe(false);
  await browser.open(callback);
  expect(await isSignedIn(browser)).toBe(true);
  browser.cookies.clear();
  await browser.open(callback);
  expect(await isSignedIn(browser)).toBe(false);

  const foreign = new BrowserSession(server);
  const url = new URL(await start(foreign));
  expect(url.searchParams.get("code_challenge_method")).toBe("S256");
  url.searchParams.set("nonce", "another");
  const injected = await provider.signIn(url.href, rita);
  expect((await foreign.open(injected.slice(foreign.origin.length))).headers.get("location")).toBe(refused);

  const [mine, yours] = [new URL(await passProvider(rita), browser.origin), new URL(await start(foreign))];
  mine.searchParams.set("state", yours.searchParams.get("state") ?? "");
  expect((await foreign.open(`${mine.pathname}${mine.search}`)).headers.get("location")).toBe(refused);
  expect(await isSignedIn(foreign)).toBe(false);
  await close();
});

test("an error of the provider leads to the page for signing in, without its explanation", async () => {
  const { browser, start, startProvider, close } = await openScene();
  startProvider();
  const state = new URL(await start()).searchParams.get("state") ?? "";
  const failure = { error: "access_denied", error_description: "rita@example.org is not allowed", state };
  const answer = await browser.open(`/auth/callback/organisation?${new URLSearchParams(failure)}`);
  expect(answer.headers.get("location")).toBe(refused);
  const without = await browser.open("/auth/callback/organisation?code=1");
  expect(without.headers.get("location")).toBe("/sign-in?error=provider");
  await close();
});

test("a provider that does not answer hinders no other sign-in, and works once it answers", async () => {
  const { server, browser, start, startProvider, passProvider, close } = await openScene();
  await invite(server, { email: "rita@example.org" });
  expect(await start()).toBe("/sign-in?error=unavailable");
  expect((await browser.submit("/sign-in", { email: "rita@example.org", password: "wrong password" })).status).toBe(
    401,
  );
  startProvider();
  expect((await browser.open(await passProvider(rita))).headers.get("location")).toBe("/account");
  for (let made = 2; made < maxAttempts.start; made++) await start();
  expect(await start()).toBe("/sign-in?error=unavailable");
  await close();
});
