import { describe, expect, test } from "vitest";
import { listAudit, listChanges } from "../support/data/state.ts";
import { answers, openReceiver } from "../webhooks/receiver.ts";
import { day, openWebhookServer, type WebhookServer } from "../webhooks/webhook-server.ts";

const sweep = (webhookServer: WebhookServer) => webhookServer.app.retention?.sweep();

describe("deliveries and events", () => {
  test("are kept for 30 days, with attempts and answers, then deleted in batches", async () => {
    const receiver = await openReceiver();
    const webhookServer = await openWebhookServer();
    await webhookServer.add(receiver.url);
    await webhookServer.emit(450);
    await webhookServer.drain();
    const [old] = await webhookServer.deliveries();
    webhookServer.clock.advance(30 * day);
    await sweep(webhookServer);
    expect(await webhookServer.deliveries()).toHaveLength(450);
    const [kept] = await webhookServer.emit();
    await webhookServer.drain();
    webhookServer.clock.advance(1);
    await sweep(webhookServer);
    expect((await webhookServer.deliveries()).map(({ eventId }) => eventId)).toEqual([kept?.eventId]);
    expect((await webhookServer.server.outbox()).map(({ eventId }) => eventId)).toEqual([kept?.eventId]);
    expect(
      await webhookServer.app.store.outbox.listAttempts(webhookServer.server.businessId, String(old?.deliveryId)),
    ).toEqual([]);
  });

  test("that are still pending stay, however old", async () => {
    const receiver = await openReceiver(answers(500));
    const webhookServer = await openWebhookServer();
    await webhookServer.add(receiver.url);
    const [waiting] = await webhookServer.emit();
    await webhookServer.drain();
    webhookServer.clock.advance(40 * day);
    await webhookServer.emit();
    await sweep(webhookServer);
    expect(await webhookServer.deliveries()).toMatchObject([{ eventId: waiting?.eventId, status: "pending" }]);
    expect(await webhookServer.server.outbox()).toHaveLength(2);
    receiver.answer(answers(200));
    await webhookServer.drain();
    expect(receiver.eventIds()).toContain(waiting?.eventId);
  });

  test("that are not fanned out yet stay, if there is an endpoint", async () => {
    const receiver = await openReceiver();
    const webhookServer = await openWebhookServer();
    await webhookServer.emit(3);
    await webhookServer.add(receiver.url);
    await webhookServer.emit(3);
    webhookServer.clock.advance(40 * day);
    await sweep(webhookServer);
    expect(await webhookServer.server.outbox()).toHaveLength(3);
    await webhookServer.drain();
    expect(receiver.received).toHaveLength(3);
  });

  test("without endpoints are deleted, except the latest, which keeps the position", async () => {
    const webhookServer = await openWebhookServer();
    await webhookServer.emit(5);
    webhookServer.clock.advance(40 * day);
    await sweep(webhookServer);
    expect(await webhookServer.server.outbox()).toHaveLength(1);
    expect(await webhookServer.app.store.outbox.lastPosition(webhookServer.server.businessId)).toBe(5);
    const receiver = await openReceiver();
    await webhookServer.add(receiver.url);
    await webhookServer.emit(1);
    await webhookServer.drain();
    expect(receiver.received).toHaveLength(1);
  });
});

describe("the audit log", () => {
  test("keeps changes for good, and other entries for the configured time", async () => {
    const webhookServer = await openWebhookServer({ environment: { PROGRAMME_ACCESS_LOG_DAYS: "100" } });
    const { server, app, clock } = webhookServer;
    const caller = await server.as("REST");
    const { programId } = await server.seed.program();
    await caller.update_program({ programId, version: 0, name: "Renamed" });
    await caller.get_program({ programId });
    await app.pipeline.flush();
    clock.advance(99 * day);
    await caller.get_program({ programId });
    await app.pipeline.flush();
    clock.advance(2 * day);
    const reads = () => listAudit(app.store, server.businessId, "program.read");
    const changes = await listChanges(app.store, server.businessId);
    expect(await reads()).toHaveLength(2);
    await sweep(webhookServer);
    expect(await reads()).toHaveLength(1);
    expect(changes.length).toBeGreaterThan(0);
    expect(await listChanges(app.store, server.businessId)).toEqual(changes);
  });
});

describe("idempotency records", () => {
  test("are deleted after a day", async () => {
    const webhookServer = await openWebhookServer();
    const { server, app, clock } = webhookServer;
    const key = { fingerprint: "f", tokenId: "tok_1", key: "k", status: 200, body: "{}" };
    const now = clock.now().toISOString();
    await app.store.transaction({ businessId: server.businessId, actorId: "usr_test", now }, (transaction) =>
      transaction.saveAnswer({ ...key, createdAt: now }),
    );
    clock.advance(day);
    expect(await sweep(webhookServer)).toBe(0);
    clock.advance(1);
    expect(await sweep(webhookServer)).toBe(1);
  });
});

test("retention applies to each tenant's rows", async () => {
  const webhookServer = await openWebhookServer();
  const other = await webhookServer.server.other();
  await webhookServer.emit(3);
  webhookServer.clock.advance(40 * day);
  const actor = { businessId: other.businessId, actorId: "usr_test", now: webhookServer.clock.now().toISOString() };
  const [event] = await webhookServer.server.outbox();
  await webhookServer.app.store.transaction(actor, (transaction) =>
    transaction.appendEvents(
      [1, 2, 3].map((n) => ({ ...(event as NonNullable<typeof event>), eventId: `evt_${n}`, timestamp: actor.now })),
    ),
  );
  await sweep(webhookServer);
  expect(await webhookServer.server.outbox()).toHaveLength(1);
  expect(await other.outbox()).toHaveLength(3);
});
