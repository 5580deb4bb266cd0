import { describe, expect } from "vitest";
import { BrowserSession, openAs } from "../../identity/browser-session.ts";
import { runDueExports } from "../../support/data/exports.ts";
import { type TestServer, test } from "../../support/servers/test-server.ts";
import { accepts, answers, openReceiver } from "../../webhooks/receiver.ts";
import { openWebhookServer } from "../../webhooks/webhook-server.ts";

const hostile = `"><script>alert(1)</script>`;

async function findEndpoints({ app, businessId }: TestServer) {
  return (await app.webhooks?.endpoints.list(businessId)) ?? [];
}

async function listActions({ app, businessId }: TestServer, action?: string) {
  const filter = action === undefined ? { entityType: "webhook_endpoint" } : { action };
  return (await app.store.reader(businessId).pageAudit(filter, { limit: 100 })).rows;
}

describe("webhook endpoints", () => {
  test("are added, get a new secret, are disabled, enabled and removed by an owner", async ({ server }) => {
    const browser = await openAs(server);
    const added = await browser.submit("/integrations/endpoints", {
      url: "https://hooks.example.org/in",
      event: "payment.failed",
    });
    const secret = /whsec_[\w+/=]+/.exec(added.text)?.[0] ?? "";
    expect([added.status, secret.length > 20]).toEqual([200, true]);
    const [endpoint] = await findEndpoints(server);
    expect(endpoint).toMatchObject({ url: "https://hooks.example.org/in", eventTypes: ["payment.failed"] });
    const path = `/integrations/endpoints/${endpoint?.endpointId}`;
    const rotated = (await browser.submit(`${path}/secret`)).text;
    const next = /whsec_[\w+/=]+/.exec(rotated)?.[0] ?? "";
    expect(next).not.toBe(secret);
    await browser.submit(`${path}/disable`);
    expect((await browser.open(path)).text).toContain("Disabled: it was disabled by hand");
    expect((await browser.submit(`${path}/test`)).text).toContain("is disabled; enable it first");
    await browser.submit(`${path}/enable`);
    for (const shown of ["/integrations", path]) {
      const { text } = await browser.open(shown);
      expect([text.includes("hooks.example.org"), text.includes("whsec_")]).toEqual([true, false]);
    }
    expect((await browser.submit(`${path}/remove`)).headers.get("location")).toBe("/integrations?done=removed");
    expect(await findEndpoints(server)).toEqual([]);
    const [user] = await server.app.store.users.list(server.businessId);
    const entries = await listActions(server);
    expect(entries.map(({ action }) => action.split(".")[1])).toEqual([
      "removed",
      "enabled",
      "disabled",
      "secret_rotated",
      "created",
    ]);
    for (const entry of entries) expect(entry).toMatchObject({ actorType: "user", actorId: user?.userId });
    expect(JSON.stringify(entries)).not.toMatch(/whsec_|hooks\.example/);
  });

  test("are refused for a private address", async ({ server }) => {
    const browser = await openAs(server);
    const answer = await browser.submit("/integrations/endpoints", { url: "https://10.0.0.1/" });
    expect([answer.status, answer.text.includes("The address is refused")]).toEqual([422, true]);
    expect(await findEndpoints(server)).toEqual([]);
  });

  test("are seen and tested, but not managed, by staff; viewers see nothing", async ({ server }) => {
    await server.app.webhooks?.endpoints.add(server.businessId, "https://hooks.example.org/", []);
    const [endpoint] = await findEndpoints(server);
    const path = `/integrations/endpoints/${endpoint?.endpointId}`;
    const staff = await openAs(server, { email: "rita@example.org", role: "staff" });
    const { status, text } = await staff.open(path);
    expect([status, text.includes(`${path}/secret`), text.includes(`${path}/test`)]).toEqual([200, false, true]);
    for (const action of ["secret", "remove", "disable", "enable", "replay"]) {
      expect((await staff.submit(`${path}/${action}`)).status).toBe(403);
    }
    expect((await staff.submit("/integrations/endpoints", { url: "https://other.example/" })).status).toBe(403);
    const viewer = await openAs(server, { email: "vera@example.org", role: "viewer" });
    for (const shown of ["/integrations", path, "/integrations/mail", "/integrations/exports"]) {
      expect([shown, (await viewer.open(shown)).status]).toEqual([shown, 403]);
    }
    const stranger = new BrowserSession(server);
    expect((await stranger.open(path)).headers.get("location")).toMatch(/^\/sign-in/);
    const forged = await (await openAs(server)).submit(`${path}/remove`, {}, { origin: "https://evil.example" });
    expect(forged.status).toBe(403);
    expect(await findEndpoints(server)).toEqual([endpoint]);
  });

  test("of another organisation cannot be seen or changed, nor its deliveries", async ({ server }) => {
    const other = await server.other();
    await server.app.webhooks?.endpoints.add(other.businessId, "https://hooks.example.org/", []);
    const [foreign] = await findEndpoints(other);
    const browser = await openAs(server);
    const path = `/integrations/endpoints/${foreign?.endpointId}`;
    expect((await browser.open(path)).status).toBe(404);
    for (const action of ["secret", "remove", "disable", "enable", "replay", "test"]) {
      expect((await browser.submit(`${path}/${action}`)).status).toBe(404);
    }
    expect((await browser.open("/integrations/deliveries/dlv_1")).status).toBe(404);
    expect(await findEndpoints(other)).toEqual([foreign]);
  });
});

describe("deliveries", () => {
  test("are shown with body, attempts and hostile answers as text, and sent again", async () => {
    const { server, add, emit, drain, deliveries } = await openWebhookServer();
    const receiver = await openReceiver(answers(500, {}, hostile));
    const { endpointId } = await add(receiver.url);
    const [event] = await emit();
    await drain();
    const browser = await openAs(server, { role: "staff" });
    const list = await browser.open(`/integrations/endpoints/${endpointId}?status=pending`);
    const [, path = ""] = /href="(\/integrations\/deliveries\/[^"]+)"/.exec(list.text) ?? [];
    const { text } = await browser.open(path);
    expect(text).toContain(event?.eventId);
    expect(text).toContain("&lt;script&gt;alert(1)");
    expect(text).not.toContain("<script>");
    receiver.answer(accepts);
    expect((await browser.submit(`${path}/replay`)).headers.get("location")).toBe(`${path}?done=replayed`);
    await drain();
    expect((await deliveries()).map(({ status }) => status)).toContain("delivered");
    const [user] = await server.app.store.users.list(server.businessId);
    expect(await listActions(server, "webhook_delivery.replayed")).toMatchObject([{ actorId: user?.userId }]);
    const tested = await browser.submit(`/integrations/endpoints/${endpointId}/test`);
    expect(tested.text).toContain("was taken: 204");
  });
});

describe("mail", () => {
  test("that failed is listed and queued again under the person's name", async ({ server }) => {
    const recipientEmail = "ana@example.org";
    const failed = { status: "failed", error: "550 no such mailbox", subject: hostile, body: "Hidden" } as const;
    const { emailSendId } = await server.seed.emailSend({ ...failed, recipientEmail });
    const { emailSendId: sentId } = await server.seed.emailSend({ status: "sent", recipientEmail });
    const browser = await openAs(server, { role: "staff", seesSensitive: true });
    const { text } = await browser.open("/integrations/mail?status=failed");
    expect(text).toContain("550 no such mailbox");
    expect(text).not.toMatch(/<script>|Hidden/);
    expect(text).not.toContain(sentId);
    expect((await browser.submit(`/integrations/mail/${emailSendId}/retry`)).status).toBe(303);
    expect((await browser.submit(`/integrations/mail/${sentId}/retry`)).status).toBe(409);
    const [user] = await server.app.store.users.list(server.businessId);
    expect(await listActions(server, "email_send.requeued")).toMatchObject([
      { entityId: emailSendId, actorType: "user", actorId: user?.userId },
    ]);
    const other = await openAs(await server.other(), { email: "eve@example.org" });
    expect((await other.submit(`/integrations/mail/${sentId}/retry`)).status).toBe(404);
    expect((await other.open("/integrations/mail?status=sent")).text).not.toContain("ana@example.org");
  });
});

describe("exports", () => {
  test("are started, made and downloaded with the person's rights", async ({ server }) => {
    const { programId, name } = await server.seed.program();
    const browser = await openAs(server, { role: "staff" });
    expect((await browser.open("/integrations/exports")).text).toContain(name);
    expect((await browser.submit("/integrations/exports", { programId })).status).toBe(303);
    expect((await browser.open("/integrations/exports")).text).toContain("Being made");
    expect((await browser.submit("/integrations/exports", { programId })).status).toBe(429);
    await runDueExports(server);
    const { text } = await browser.open("/integrations/exports");
    const [, path = ""] = /href="(\/integrations\/exports\/[^"]+\/file)"/.exec(text) ?? [];
    const location = (await browser.open(path)).headers.get("location") ?? "";
    const file = await fetch(location);
    expect([file.status, (await file.text()).includes(programId)]).toEqual([200, true]);
    const other = await openAs(await server.other(), { email: "eve@example.org" });
    expect((await other.open(path)).status).toBe(404);
    expect((await other.submit("/integrations/exports", { programId })).status).toBe(404);
  });
});
