import { expect, onTestFinished, test } from "vitest";
import { createLogger } from "../../../src/lib/log.ts";
import { BrowserSession, openAs, password } from "../../identity/browser-session.ts";
import { openTestServer, type TestServer } from "../../support/servers/test-server.ts";

const hostile = `"><script>alert(1)</script><img src=x onerror=alert(1)>`;
const personal = /example\.org|hostile|alert|olga|ada|ana|vera/i;

/** Tables as files, and pages of the reference, which have a test of their own. */
const elsewhere = /format=|\/openapi\.json|^\/reference\//;

/** A server whose log is kept, with hostile texts wherever people and agents can leave some. */
async function openSetup() {
  const written: string[] = [];
  const stream = { write: (line: string) => void written.push(line) };
  const log = await createLogger({ level: "debug", format: "json", stream });
  const { server, close } = await openTestServer({}, { log });
  onTestFinished(close);
  const { programId } = await server.seed.program({ name: hostile, lifecycleStatus: "underway" });
  const { trackId } = await server.seed.track({ programId, name: hostile });
  const submission = { trackId, innovatorEmail: "ada@secret.example.org", title: hostile };
  await server.seed.submission({ ...submission, state: "SUBMITTED" });
  const failed = { status: "failed", error: hostile, subject: hostile, body: hostile } as const;
  await server.seed.emailSend({ ...failed, recipientEmail: "ana@example.org" });
  await server.app.portalServices?.mailAdmin.suppress(server.businessId, "vera@example.org", "unsubscribed");
  await server.app.webhooks?.endpoints.add(server.businessId, "https://hooks.example.net/in", []);
  return { server, readLog: () => written.join("") };
}

/** Opens every page that links lead to, each once. Other parameters of a page that was seen are left out. */
async function visitPages(browser: BrowserSession, first: readonly string[]) {
  const [waiting, seen] = [[...first], new Map<string, { status: number; headers: Headers; text: string }>()];
  for (let path = waiting.pop(); path !== undefined; path = waiting.pop()) {
    const page = path.split("?")[0] ?? path;
    if (seen.has(page)) continue;
    const answer = await browser.open(path);
    seen.set(page, answer);
    for (const [, link = ""] of answer.text.matchAll(/ (?:href|src|action)="([^"#]+)/g)) {
      expect([path, decodeURIComponent(link)]).not.toEqual([path, expect.stringMatching(personal)]);
    }
    for (const [, link = ""] of answer.text.matchAll(/<a [^>]*href="([^"#]+)/g)) {
      if (link.startsWith("/") && !elsewhere.test(link)) waiting.push(link.replaceAll("&amp;", "&"));
    }
  }
  return seen;
}

/** Expects what holds for every page, whatever it shows. */
function expectSafePage(path: string, { headers, text }: { readonly headers: Headers; readonly text: string }): void {
  const policy = headers.get("content-security-policy") ?? "";
  for (const part of ["default-src 'none'", "frame-ancestors 'none'", "base-uri 'none'", "form-action 'self'"]) {
    expect([path, policy]).toEqual([path, expect.stringContaining(part)]);
  }
  expect([path, policy]).not.toEqual([path, expect.stringMatching(/unsafe|https?:/)]);
  expect([path, headers.get("x-frame-options")]).toEqual([path, "DENY"]);
  expect([path, headers.get("cache-control")]).toEqual([path, expect.stringContaining("no-store")]);
  const active = text.replaceAll(/"[^"]*"/g, "").match(/<script>|<style|<img|<[^>]*\s(?:on\w+|style)=/) ?? [];
  expect([path, ...active]).toEqual([path]);
}

async function addHostileAccess(server: TestServer, owner: BrowserSession) {
  await owner.submit("/access/tokens", { name: hostile, preset: "read", expires: "30" });
  const guest = await owner.submit("/access/people", { email: "vera@example.org", role: "viewer" });
  const link = /\/join\/[\w-]+/.exec(guest.text)?.[0] ?? "";
  const viewer = new BrowserSession(server);
  await viewer.submit(link, { name: hostile, password, repeated: password });
  return { viewer, link };
}

test("no page can be framed, runs foreign code, takes a foreign form or names a person in an address; nor does the log", async () => {
  const { server, readLog } = await openSetup();
  const owner = await openAs(server, { email: "olga@example.org", seesSensitive: true });
  const { viewer, link } = await addHostileAccess(server, owner);
  const pages = await visitPages(owner, ["/", "/account", "/connected-apps", "/reference/operations/list_programs"]);
  for (const expected of [
    "/integrations/mail/suppressed",
    "/audit",
    "/programmes",
    "/reference",
    "/access/people/new",
  ]) {
    expect([...pages.keys()]).toContain(expected);
  }
  for (const [path, answer] of pages) {
    expect([path, answer.status, answer.headers.get("x-content-type-options")]).toEqual([path, 200, "nosniff"]);
    if (answer.headers.get("content-type")?.startsWith("text/html")) expectSafePage(path, answer);
  }
  expect([...pages.values()].some(({ text }) => text.includes("&lt;script&gt;alert(1)"))).toBe(true);

  const stranger = new BrowserSession(server);
  for (const path of ["/", "/sign-in", link, "/join/unknown"]) expectSafePage(path, await stranger.open(path));
  for (const path of ["/access", "/integrations/mail"]) expectSafePage(path, await viewer.open(path));
  for (const path of ["/integrations/deliveries/none", "/programmes/none"]) {
    expectSafePage(path, await owner.open(path));
  }
  const forms = [...pages.values()].flatMap(({ text }) => text.match(/<form method="post" action="[^"]+/g) ?? []);
  const actions = new Set(forms.map((form) => form.split('action="')[1] ?? ""));
  expect(actions.size).toBeGreaterThan(15);
  const foreign = { origin: "https://evil.example", "sec-fetch-site": "cross-site" };
  for (const path of actions) expect([path, (await owner.submit(path, {}, foreign)).status]).toEqual([path, 403]);
  await owner.submit("/sign-out");

  const log = readLog();
  expect(log.length).toBeGreaterThan(1000);
  const cookies = [...viewer.cookies.values()].map((value) => decodeURIComponent(value).split(".")[0] ?? "");
  for (const secret of [...cookies, link.split("/").at(-1) ?? "", password, "example.org", "alert(1)", "Olga Owner"]) {
    expect(log).not.toContain(secret);
  }
});
