import { describe, expect, test } from "vitest";
import { type Answer, accepts, answers, openReceiver } from "./receiver.ts";
import { day, hour, openWebhookServer, second, type WebhookServer } from "./webhook-server.ts";

const sinceHoursAgo = ({ clock }: WebhookServer, hours: number) =>
  new Date(clock.now().getTime() - hours * hour).toISOString();

describe("a replay", () => {
  test("of a delivery sends the same body under the same id, as a new delivery", async () => {
    const receiver = await openReceiver();
    const rig = await openWebhookServer();
    await rig.add(receiver.url);
    const [event] = await rig.emit();
    await rig.drain();
    const [delivery] = await rig.deliveries();
    expect(await rig.webhooks.replay.delivery(rig.server.businessId, String(delivery?.deliveryId))).toBe(1);
    await rig.drain();
    expect(receiver.eventIds()).toEqual([event?.eventId, event?.eventId]);
    expect(receiver.received[0]?.body).toBe(receiver.received[1]?.body);
    const all = await rig.deliveries();
    expect(all).toMatchObject([
      { status: "delivered", replay: true },
      { status: "delivered", replay: false },
    ]);
    expect(new Set(all.map(({ deliveryId }) => deliveryId)).size).toBe(2);
  });

  test("of a delivery that waits for its next attempt makes that at once, and has no effect if it is due or in flight", async () => {
    const receiver = await openReceiver(answers(500));
    const rig = await openWebhookServer();
    const key = await rig.add(receiver.url);
    await rig.emit();
    await rig.drain();
    rig.clock.advance(second);
    const { promise: repaired, resolve: repair } = Promise.withResolvers<void>();
    const hangsForNow: Answer = (response) => void repaired.then(() => response.writeHead(500).end());
    receiver.answer(hangsForNow);
    const [delivery] = await rig.deliveries();
    const again = () => rig.webhooks.replay.delivery(rig.server.businessId, String(delivery?.deliveryId));
    expect(delivery).toMatchObject({ status: "pending", attempt: 1 });
    expect([await again(), await again()]).toEqual([1, 0]);
    const draining = rig.drain();
    await receiver.waitFor(2);
    expect(await again()).toBe(0);
    expect(receiver.eventIds()).toEqual([delivery?.eventId, delivery?.eventId]);
    expect(await rig.deliveries()).toMatchObject([{ status: "leased", attempt: 1 }]);
    repair();
    await draining;
    // The schedule goes on from there.
    expect(await rig.deliveries()).toMatchObject([{ status: "pending", attempt: 2 }]);
    receiver.answer(accepts);
    expect(
      await rig.webhooks.replay.since(await rig.webhooks.endpoints.find(key.endpointId), sinceHoursAgo(rig, 1), false),
    ).toBe(1);
    await rig.drain();
    expect(await rig.deliveries()).toMatchObject([{ status: "delivered", attempt: 3 }]);
  });

  test("since a time sends missed events, and received ones only on request", async () => {
    const receiver = await openReceiver();
    const rig = await openWebhookServer();
    const key = await rig.add(receiver.url, ["submission.submitted"]);
    await rig.emit(2);
    await rig.drain();
    rig.clock.advance(10 * day);
    await rig.emit(3);
    await rig.drain();
    receiver.answer(answers(410));
    const [refused] = await rig.emit();
    await rig.drain();
    const missed = await rig.emit(250);
    await rig.emit(5, "review.submitted");
    rig.clock.advance(hour);
    receiver.answer(accepts);
    await rig.webhooks.endpoints.enable(key);
    await rig.drain();
    expect(receiver.received).toHaveLength(6);

    const endpoint = () => rig.webhooks.endpoints.find(key.endpointId);
    expect(await rig.webhooks.replay.since(await endpoint(), sinceHoursAgo(rig, 24), false)).toBe(251);
    await rig.drain();
    const replayed = receiver.eventIds().slice(6).toSorted();
    expect(replayed).toEqual([refused, ...missed].map((event) => String(event?.eventId)).toSorted());
    expect(await rig.webhooks.replay.since(await endpoint(), sinceHoursAgo(rig, 24), false)).toBe(0);
    expect(await rig.webhooks.replay.since(await endpoint(), sinceHoursAgo(rig, 24), true)).toBe(254);
    await rig.drain();
    expect(await rig.webhooks.replay.since(await endpoint(), sinceHoursAgo(rig, 24 * 11), true)).toBe(256);
  });

  test("to a disabled endpoint, or of another tenant's delivery, is refused", async () => {
    const receiver = await openReceiver();
    const rig = await openWebhookServer();
    const key = await rig.add(receiver.url);
    await rig.emit();
    await rig.drain();
    const [delivery] = await rig.deliveries();
    const deliveryId = String(delivery?.deliveryId);
    const other = await rig.server.other();
    await expect(rig.webhooks.replay.delivery(other.businessId, deliveryId)).rejects.toMatchObject({
      code: "not_found",
    });
    await rig.webhooks.endpoints.disable(key, "manual");
    expect(await rig.webhooks.replay.delivery(rig.server.businessId, deliveryId)).toBe(0);
    await rig.drain();
    expect(receiver.received).toHaveLength(1);
  });
});
