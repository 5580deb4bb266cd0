import { describe, expect, test } from "vitest";
import { listAudit, listChanges } from "../support/data/state.ts";
import { answers, openReceiver } from "../webhooks/receiver.ts";
import { day, openWebhookServer, type WebhookServer } from "../webhooks/webhook-server.ts";

const sweep = (rig: WebhookServer) => rig.app.retention?.sweep();

describe("deliveries and events", () => {
  test("are kept for 30 days, with attempts and answers, then deleted in batches", async () => {
    const receiver = await openReceiver();
    const rig = await openWebhookServer();
    await rig.add(receiver.url);
    await rig.emit(450);
    await rig.drain();
    const [old] = await rig.deliveries();
    rig.clock.advance(30 * day);
    await sweep(rig);
    expect(await rig.deliveries()).toHaveLength(450);
    const [kept] = await rig.emit();
    await rig.drain();
    rig.clock.advance(1);
    await sweep(rig);
    expect((await rig.deliveries()).map(({ eventId }) => eventId)).toEqual([kept?.eventId]);
    expect((await rig.server.outbox()).map(({ eventId }) => eventId)).toEqual([kept?.eventId]);
    expect(await rig.app.store.outbox.listAttempts(rig.server.businessId, String(old?.deliveryId))).toEqual([]);
  });

  test("that are still pending stay, however old", async () => {
    const receiver = await openReceiver(answers(500));
    const rig = await openWebhookServer();
    await rig.add(receiver.url);
    const [waiting] = await rig.emit();
    await rig.drain();
    rig.clock.advance(40 * day);
    await rig.emit();
    await sweep(rig);
    expect(await rig.deliveries()).toMatchObject([{ eventId: waiting?.eventId, status: "pending" }]);
    expect(await rig.server.outbox()).toHaveLength(2);
    receiver.answer(answers(200));
    await rig.drain();
    expect(receiver.eventIds()).toContain(waiting?.eventId);
  });

  test("that are not fanned out yet stay, if there is an endpoint", async () => {
    const receiver = await openReceiver();
    const rig = await openWebhookServer();
    await rig.emit(3);
    await rig.add(receiver.url);
    await rig.emit(3);
    rig.clock.advance(40 * day);
    await sweep(rig);
    expect(await rig.server.outbox()).toHaveLength(3);
    await rig.drain();
    expect(receiver.received).toHaveLength(3);
  });

  test("without endpoints are deleted, except the latest, which keeps the position", async () => {
    const rig = await openWebhookServer();
    await rig.emit(5);
    rig.clock.advance(40 * day);
    await sweep(rig);
    expect(await rig.server.outbox()).toHaveLength(1);
    expect(await rig.app.store.outbox.lastPosition(rig.server.businessId)).toBe(5);
    const receiver = await openReceiver();
    await rig.add(receiver.url);
    await rig.emit(1);
    await rig.drain();
    expect(receiver.received).toHaveLength(1);
  });
});

describe("the audit log", () => {
  test("keeps changes for good, and other entries for the configured time", async () => {
    const rig = await openWebhookServer({ environment: { PROGRAMME_ACCESS_LOG_DAYS: "100" } });
    const { server, app, clock } = rig;
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
    await sweep(rig);
    expect(await reads()).toHaveLength(1);
    expect(changes.length).toBeGreaterThan(0);
    expect(await listChanges(app.store, server.businessId)).toEqual(changes);
  });
});

describe("idempotency records", () => {
  test("are deleted after a day", async () => {
    const rig = await openWebhookServer();
    const { server, app, clock } = rig;
    const key = { fingerprint: "f", tokenId: "tok_1", key: "k", status: 200, body: "{}" };
    const now = clock.now().toISOString();
    await app.store.transaction({ businessId: server.businessId, actorId: "usr_test", now }, (transaction) =>
      transaction.saveAnswer({ ...key, createdAt: now }),
    );
    clock.advance(day);
    expect(await sweep(rig)).toBe(0);
    clock.advance(1);
    expect(await sweep(rig)).toBe(1);
  });
});

test("retention applies to each tenant's rows", async () => {
  const rig = await openWebhookServer();
  const other = await rig.server.other();
  await rig.emit(3);
  rig.clock.advance(40 * day);
  const actor = { businessId: other.businessId, actorId: "usr_test", now: rig.clock.now().toISOString() };
  const [event] = await rig.server.outbox();
  await rig.app.store.transaction(actor, (transaction) =>
    transaction.appendEvents(
      [1, 2, 3].map((n) => ({ ...(event as NonNullable<typeof event>), eventId: `evt_${n}`, timestamp: actor.now })),
    ),
  );
  await sweep(rig);
  expect(await rig.server.outbox()).toHaveLength(1);
  expect(await other.outbox()).toHaveLength(3);
});
