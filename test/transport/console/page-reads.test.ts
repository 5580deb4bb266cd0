import { expect, vi } from "vitest";
import { createPageReads } from "../../../src/app/access/page-reads.ts";
import { BrowserSession, openAs } from "../../identity/browser-session.ts";
import { openTestServer, type TestServer, test } from "../../support/servers/test-server.ts";

/** The pages of management that list records, as one of the organisation's has them. */
const pages = [
  "/integrations",
  "/integrations/mail",
  "/integrations/mail/suppressed",
  "/integrations/exports",
  "/integrations/exports/exp_1/file",
  "/integrations/endpoints/whe_1",
  "/integrations/deliveries/dlv_1",
  "/access",
  "/access/tokens/tok_1",
  "/access/people/usr_1",
];

async function listStatuses({ app, businessId }: TestServer, action: string) {
  const { rows } = await app.store.reader(businessId).pageAudit({ action }, { limit: 10 });
  return rows.map(({ actorId, entityId, status }) => ({ actorId, entityId, status }));
}

test("a viewer is refused each page that manages access and integrations, and a stranger signs in first", async ({
  server,
}) => {
  const viewer = await openAs(server, { email: "vera@example.org", role: "viewer", seesSensitive: true });
  const stranger = new BrowserSession(server);
  for (const page of pages) {
    const { status, text } = await viewer.open(page);
    expect([page, status]).toEqual([page, 403]);
    expect(text).toContain("Your role does not include this page.");
    expect((await stranger.open(page)).headers.get("location")).toMatch(/^\/sign-in\?next=/);
  }
  for (const action of ["email_send.listed", "suppression.listed", "export.listed", "webhook_delivery.listed"]) {
    expect(await listStatuses(server, action)).toEqual([]);
  }
});

test("a list for which the interface has no operation is read with its scopes only, and recorded", async ({
  server,
}) => {
  const { app, businessId, clock } = server;
  const read = createPageReads(app.store, clock, app.pipeline);
  const open = (...scopes: ("emails:read" | "exports:read")[]) => {
    const caller = { businessId, tokenId: "usr_1", userId: "usr_1", scopes: new Set(scopes) };
    return { caller, requestId: "req_1", signal: new AbortController().signal };
  };
  const rule = { audit: "email_send.listed", scopes: ["emails:read"], entityId: "eml_1" } as const;
  const work = vi.fn(async () => "read");
  const refusal = { code: "insufficient_scope", details: { requiredScopes: ["emails:read"] } };
  await expect(read(open("exports:read"), rule, work)).rejects.toMatchObject(refusal);
  expect(work).not.toHaveBeenCalled();
  expect(await read(open("emails:read"), rule, work)).toBe("read");
  const entry = { actorId: "usr_1", entityId: "eml_1" };
  expect(await listStatuses(server, "email_send.listed")).toEqual([
    { ...entry, status: 200 },
    { ...entry, status: 403 },
  ]);
});

test("these lists count against the person's rate, as calls do", async () => {
  const { server, close } = await openTestServer({ PROGRAMME_REQUESTS_PER_MINUTE: "2" });
  const browser = await openAs(server, { role: "staff" });
  const open = async (page: string) => (await browser.open(page)).status;
  expect(await open("/integrations/mail")).toBe(200);
  expect(await open("/integrations/mail/suppressed")).toBe(200);
  expect(await open("/integrations/mail")).toBe(429);
  await close();
});
