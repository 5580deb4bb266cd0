import { describe, expect, test } from "vitest";
import { type Answer, accepts, answers, openReceiver } from "./receiver.ts";
import { day, hour, openWebhookServer, second, type WebhookServer } from "./webhook-server.ts";

const sinceHoursAgo = ({ clock }: WebhookServer, hours: number) =>
  new Date(clock.now().getTime() - hours * hour).toISOString();

describe("a replay", () => {
  test("of a delivery sends the same body under the same id, as a new delivery", async () => {
    const receiver = await openReceiver();
    const webhookServer = await openWebhookServer();
    await webhookServer.add(receiver.url);
    const [event] = await webhookServer.emit();
    await webhookServer.drain();
    const [delivery] = await webhookServer.deliveries();
    expect(
      await webhookServer.webhooks.replay.delivery(webhookServer.server.businessId, String(delivery?.deliveryId)),
    ).toBe(1);
    await webhookServer.drain();
    expect(receiver.eventIds()).toEqual([event?.eventId, event?.eventId]);
    expect(receiver.received[0]?.body).toBe(receiver.received[1]?.body);
    const all = await webhookServer.deliveries();
    expect(all).toMatchObject([
      { status: "delivered", replay: true },
      { status: "delivered", replay: false },
    ]);
    expect(new Set(all.map(({ deliveryId }) => deliveryId)).size).toBe(2);
  });

  test("of a delivery that waits for its next attempt makes that at once, and has no effect if it is due or in flight", async () => {
    const receiver = await openReceiver(answers(500));
    const webhookServer = await openWebhookServer();
    const key = await webhookServer.add(receiver.url);
    await webhookServer.emit();
    await webhookServer.drain();
    webhookServer.clock.advance(second);
    const { promise: repaired, resolve: repair } = Promise.withResolvers<void>();
    const hangsForNow: Answer = (response) => void repaired.then(() => response.writeHead(500).end());
    receiver.answer(hangsForNow);
    const [delivery] = await webhookServer.deliveries();
    const again = () =>
      webhookServer.webhooks.replay.delivery(webhookServer.server.businessId, String(delivery?.deliveryId));
    expect(delivery).toMatchObject({ status: "pending", attempt: 1 });
    expect([await again(), await again()]).toEqual([1, 0]);
    const draining = webhookServer.drain();
    await receiver.waitFor(2);
    expect(await again()).toBe(0);
    expect(receiver.eventIds()).toEqual([delivery?.eventId, delivery?.eventId]);
    expect(await webhookServer.deliveries()).toMatchObject([{ status: "leased", attempt: 1 }]);
    repair();
    await draining;
    // The schedule goes on from there.
    expect(await webhookServer.deliveries()).toMatchObject([{ status: "pending", attempt: 2 }]);
    receiver.answer(accepts);
    expect(
      await webhookServer.webhooks.replay.since(
        await webhookServer.webhooks.endpoints.find(key.endpointId),
        sinceHoursAgo(webhookServer, 1),
        false,
      ),
    ).toBe(1);
    await webhookServer.drain();
    expect(await webhookServer.deliveries()).toMatchObject([{ status: "delivered", attempt: 3 }]);
  });

  test("since a time sends missed events, and received ones only on request", async () => {
    const receiver = await openReceiver();
    const webhookServer = await openWebhookServer();
    const key = await webhookServer.add(receiver.url, ["submission.submitted"]);
    await webhookServer.emit(2);
    await webhookServer.drain();
    webhookServer.clock.advance(10 * day);
    await webhookServer.emit(3);
    await webhookServer.drain();
    receiver.answer(answers(410));
    const [refused] = await webhookServer.emit();
    await webhookServer.drain();
    const missed = await webhookServer.emit(250);
    await webhookServer.emit(5, "review.submitted");
    webhookServer.clock.advance(hour);
    receiver.answer(accepts);
    await webhookServer.webhooks.endpoints.enable(key);
    await webhookServer.drain();
    expect(receiver.received).toHaveLength(6);

    const endpoint = () => webhookServer.webhooks.endpoints.find(key.endpointId);
    expect(await webhookServer.webhooks.replay.since(await endpoint(), sinceHoursAgo(webhookServer, 24), false)).toBe(
      251,
    );
    await webhookServer.drain();
    const replayed = receiver.eventIds().slice(6).toSorted();
    expect(replayed).toEqual([refused, ...missed].map((event) => String(event?.eventId)).toSorted());
    expect(await webhookServer.webhooks.replay.since(await endpoint(), sinceHoursAgo(webhookServer, 24), false)).toBe(
      0,
    );
    expect(await webhookServer.webhooks.replay.since(await endpoint(), sinceHoursAgo(webhookServer, 24), true)).toBe(
      254,
    );
    await webhookServer.drain();
    expect(
      await webhookServer.webhooks.replay.since(await endpoint(), sinceHoursAgo(webhookServer, 24 * 11), true),
    ).toBe(256);
  });

  test("to a disabled endpoint, or of another tenant's delivery, is refused", async () => {
    const receiver = await openReceiver();
    const webhookServer = await openWebhookServer();
    const key = await webhookServer.add(receiver.url);
    await webhookServer.emit();
    await webhookServer.drain();
    const [delivery] = await webhookServer.deliveries();
    const deliveryId = String(delivery?.deliveryId);
    const other = await webhookServer.server.other();
    await expect(webhookServer.webhooks.replay.delivery(other.businessId, deliveryId)).rejects.toMatchObject({
      code: "not_found",
    });
    await webhookServer.webhooks.endpoints.disable(key, "manual");
    expect(await webhookServer.webhooks.replay.delivery(webhookServer.server.businessId, deliveryId)).toBe(0);
    await webhookServer.drain();
    expect(receiver.received).toHaveLength(1);
  });
});
