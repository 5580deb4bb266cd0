import { expect } from "vitest";
import { openAs } from "../../identity/browser-session.ts";
import { type TestServer, test } from "../../support/servers/test-server.ts";

const path = "/integrations/mail/suppressed";
const address = "ada@secret.example.org";

async function listSuppressed({ app, businessId }: TestServer) {
  const { rows } = await app.store.reader(businessId).page("suppressions", {}, "newest", { limit: 10 });
  return rows.map(({ email, reason }) => [email, reason]);
}

async function listActions({ app, businessId }: TestServer) {
  const { rows } = await app.store.reader(businessId).pageAudit({ entityType: "suppression" }, { limit: 10 });
  return rows.map(({ action, actorId, changes }) => ({ action, actorId, changes: JSON.stringify(changes) }));
}

test("addresses are suppressed and allowed again under the person's name, with no address in the audit or the URL", async ({
  server,
}) => {
  const browser = await openAs(server, { role: "staff", seesSensitive: true });
  const [user] = await server.app.store.users.list(server.businessId);
  const added = await browser.submit(path, { email: ` ${address} ` });
  expect(added.headers.get("location")).toBe(`${path}?done=added`);
  // The same answer, whether or not the address was suppressed.
  expect((await browser.submit(path, { email: address.toUpperCase() })).headers.get("location")).toBe(
    `${path}?done=added`,
  );
  expect(await listSuppressed(server)).toEqual([[address, "manual"]]);
  const { text } = await browser.open(`${path}?done=added`);
  expect(text).toContain(address);
  expect(text).toContain("Added by hand");
  const wrong = await browser.submit(path, { email: `"><script>alert(1)</script>` });
  expect(wrong.status).toBe(422);
  expect(wrong.text).toContain("Give one e-mail address.");
  expect(wrong.text).not.toContain("<script>");

  const [, removal = ""] = /action="([^"]+\/remove)"/.exec(text) ?? [];
  const other = await openAs(await server.other(), { email: "eve@example.org", seesSensitive: true });
  expect((await other.submit(removal)).status).toBe(404);
  expect((await other.open(path)).text).toContain("No address is suppressed.");
  expect((await browser.submit(removal, {}, { origin: "https://evil.example" })).status).toBe(403);
  expect((await browser.submit(removal)).headers.get("location")).toBe(`${path}?done=removed`);
  expect((await browser.submit(removal)).status).toBe(404);
  expect(await listSuppressed(server)).toEqual([]);
  const actions = await listActions(server);
  expect(actions).toMatchObject([
    { action: "suppression.removed", actorId: user?.userId },
    { action: "suppression.added", actorId: user?.userId },
  ]);
  expect(JSON.stringify(actions)).not.toContain("secret.example");
});

test("suppressed addresses are hidden from people without the right, who allow none again", async ({ server }) => {
  await server.app.portalServices?.mailAdmin.suppress(server.businessId, address, "unsubscribed");
  const owner = await openAs(server, { seesSensitive: true });
  const [, removal = ""] = /action="([^"]+\/remove)"/.exec((await owner.open(path)).text) ?? [];
  const staff = await openAs(server, { role: "staff", email: "sam@example.org" });
  const { text } = await staff.open(path);
  expect(text).toContain("Its owner asked for it");
  expect(text).not.toMatch(/secret\.example|\/remove/);
  expect((await staff.submit(removal)).status).toBe(403);
  expect((await staff.submit(path, { email: "bo@example.org" })).status).toBe(303);
  expect(await listSuppressed(server)).toEqual([
    ["bo@example.org", "manual"],
    [address, "unsubscribed"],
  ]);
});
