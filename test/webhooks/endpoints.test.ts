import { describe, expect, test } from "vitest";
import { createAddressGuard } from "../../src/webhooks/address-guard.ts";
import { findUrlFault } from "../../src/webhooks/url.ts";
import { openWebhookServer } from "./webhook-server.ts";

describe("the address of an endpoint", () => {
  const fault = (url: string, allowLoopback = false) =>
    findUrlFault(url, { allowLoopback, isBlocked: createAddressGuard({ allowLoopback }) });

  test.each([
    "https://hooks.example/in",
    "https://hooks.example:8443/in?key=1",
    "https://8.8.8.8/",
    "https://[2606:4700:4700::1111]/",
    `https://hooks.example/${"x".repeat(1_970)}`,
  ])("may be %s", (url) => {
    expect(fault(url)).toBeUndefined();
  });

  test.each([
    ["", "https address"],
    ["hooks.example", "https address"],
    ["/in", "https address"],
    ["http://hooks.example/", "https address"],
    ["ftp://hooks.example/", "https address"],
    ["file:///etc/passwd", "https address"],
    ["javascript:alert(1)", "https address"],
    [`https://hooks.example/${"x".repeat(2_000)}`, "2000 characters"],
    ["https://ada@hooks.example/", "user name"],
    ["https://ada:pass@hooks.example/", "user name"],
    ["https://:pass@hooks.example/", "user name"],
    ["https://hooks.example/#part", "fragment"],
    ["https://10.0.0.1/", "private"],
    ["https://0/", "private"],
    ["https://0x0a000001/", "private"],
    ["https://169.254.169.254/latest/meta-data", "private"],
    ["https://[fd00::1]/", "private"],
    ["https://[::ffff:10.0.0.1]/", "private"],
    ["https://192.168.0.1./", "private"],
    ["https://localhost/", "PROGRAMME_WEBHOOK_LOOPBACK"],
    ["https://LOCALHOST./", "PROGRAMME_WEBHOOK_LOOPBACK"],
    ["https://a.localhost/", "PROGRAMME_WEBHOOK_LOOPBACK"],
    ["https://127.1/", "PROGRAMME_WEBHOOK_LOOPBACK"],
    ["https://[::1]/", "PROGRAMME_WEBHOOK_LOOPBACK"],
    ["http://127.0.0.1:8080/", "PROGRAMME_WEBHOOK_LOOPBACK"],
  ])("may not be %s", (url, reason) => {
    expect(fault(url)).toContain(reason);
  });

  test("may be on this machine when that is allowed, without encryption too; nothing else changes", () => {
    for (const url of ["http://localhost:8080/in", "https://localhost/", "http://127.0.0.1/", "http://[::1]:1/"]) {
      expect([url, fault(url, true)]).toEqual([url, undefined]);
    }
    for (const url of ["ftp://localhost/", "http://hooks.example/", "https://10.0.0.1/", "https://ada@localhost/"]) {
      expect([url, fault(url, true)]).toEqual([url, expect.any(String)]);
    }
  });
});

describe("endpoints", () => {
  test("that are refused leave nothing behind", async () => {
    const { webhooks, server } = await openWebhookServer({ environment: { PROGRAMME_WEBHOOK_LOOPBACK: "false" } });
    const added = webhooks.endpoints.add(server.businessId, "https://10.0.0.1/", []);
    await expect(added).rejects.toMatchObject({ code: "validation_failed" });
    expect(await webhooks.endpoints.list(server.businessId)).toEqual([]);
  });

  test("are listed without their secrets, for their own tenant only", async () => {
    const { webhooks, server, add } = await openWebhookServer();
    const other = await server.other();
    const { endpointId, secret } = await add("https://hooks.example/in", ["payment.failed", "payment.failed"]);
    await webhooks.endpoints.add(other.businessId, "https://hooks.example/in", []);
    const listed = await webhooks.endpoints.list(server.businessId);
    expect(listed).toMatchObject([{ endpointId, url: "https://hooks.example/in", eventTypes: ["payment.failed"] }]);
    expect(JSON.stringify(listed)).not.toMatch(/v1\.|whsec_|ecret"/);
    expect(await webhooks.endpoints.find(endpointId)).toEqual(listed[0]);
    expect(secret).toMatch(/^whsec_/);
  });

  test("have unique addresses, at most 20 for each tenant", async () => {
    const { add, webhooks, server } = await openWebhookServer();
    for (let n = 0; n < 20; n++) await add(`https://hooks.example/${n}`);
    await expect(add("https://hooks.example/20")).rejects.toThrow(/20 endpoints already/);
    const [{ endpointId, businessId } = { endpointId: "", businessId: "" }] = await webhooks.endpoints.list(
      server.businessId,
    );
    await webhooks.endpoints.remove({ endpointId, businessId });
    await expect(add("https://hooks.example/19")).rejects.toThrow(/address of whe_\w+ already/);
    await expect(add("https://hooks.example/20")).resolves.toMatchObject({ secret: expect.any(String) });
  });

  test("that are unknown, or another tenant's, are not changed", async () => {
    const { webhooks, server, add } = await openWebhookServer();
    const { endpointId } = await add("https://hooks.example/in");
    const other = await server.other();
    const { endpoints } = webhooks;
    for (const key of [
      { businessId: server.businessId, endpointId: "whe_none" },
      { businessId: other.businessId, endpointId },
    ]) {
      for (const change of [
        () => endpoints.remove(key),
        () => endpoints.enable(key),
        () => endpoints.disable(key, "manual"),
        () => endpoints.rotateSecret(key, 0),
      ]) {
        await expect(change()).rejects.toMatchObject({ code: "not_found" });
      }
      expect(await endpoints.target(key)).toBeUndefined();
    }
    expect(await webhooks.endpoints.find(endpointId)).toMatchObject({ status: "enabled", version: 0 });
  });

  test("have an audit entry for every change, without address or secret", async () => {
    const { webhooks, server, app, add } = await openWebhookServer();
    const key = await add("https://hooks.example/in?key=swordfish");
    await webhooks.endpoints.rotateSecret(key, 1_000);
    await webhooks.endpoints.disable(key, "manual");
    await webhooks.endpoints.disable(key, "manual");
    await webhooks.endpoints.enable(key);
    await webhooks.endpoints.remove(key);
    const page = await app.store.reader(server.businessId).pageAudit({ entityType: "webhook_endpoint" }, { limit: 50 });
    expect(page.rows.map(({ action }) => action).toReversed()).toEqual([
      "webhook_endpoint.created",
      "webhook_endpoint.secret_rotated",
      "webhook_endpoint.disabled",
      "webhook_endpoint.enabled",
      "webhook_endpoint.removed",
    ]);
    for (const entry of page.rows) {
      expect(entry).toMatchObject({
        entityId: key.endpointId,
        actorType: "user",
        actorId: "command_line",
        status: null,
      });
    }
    expect(page.rows.at(-2)?.changes.map(({ path }) => path)).toEqual([
      "secret",
      "previousSecret",
      "previousSecretUntil",
    ]);
    expect(JSON.stringify(page.rows)).not.toMatch(/hooks\.example|swordfish|whsec_|v1\./);
  });
});
