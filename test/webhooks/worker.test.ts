import { setTimeout as delay } from "node:timers/promises";
import { describe, expect, test, vi } from "vitest";
import type { Webhooks } from "../../src/app/app.ts";
import { ownDatabase } from "../support/database/database.ts";
import { TestClock } from "../support/servers/test-server.ts";
import { waitFor } from "../support/wait.ts";
import { accepts, answers, hangs, openReceiver } from "./receiver.ts";
import { hour, minute, openWebhookServer, second, type WebhookServer } from "./webhook-server.ts";

const expectAllDelivered = (webhookServer: WebhookServer) =>
  expect.poll(async () => (await webhookServer.deliveries()).every(({ status }) => status === "delivered"));

/** Runs work with a clock that passes fast, but slowly enough that no statement of the database times out. */
async function runWithFastTimers(work: Promise<void>): Promise<void> {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  try {
    let ended = false;
    const ending = work.finally(() => (ended = true));
    for (; !ended; await delay(1)) vi.advanceTimersByTime(20);
    await ending;
  } finally {
    vi.useRealTimers();
  }
}

describe("the webhook worker", () => {
  test("delivers events once it is started, until it is stopped", async () => {
    const receiver = await openReceiver();
    const webhookServer = await openWebhookServer();
    await webhookServer.add(receiver.url);
    webhookServer.app.startWorkers();
    const first = await webhookServer.emit(5);
    await receiver.waitFor(5);
    await expectAllDelivered(webhookServer).toBe(true);
    await webhookServer.webhooks.deliveries.stop();
    await webhookServer.emit();
    await new Promise((resolve) => setTimeout(resolve, 600));
    expect(receiver.eventIds().toSorted()).toEqual(first.map(({ eventId }) => eventId).toSorted());
  });

  test("sends nothing before it is started", async () => {
    const receiver = await openReceiver();
    const webhookServer = await openWebhookServer();
    await webhookServer.add(receiver.url);
    await webhookServer.emit();
    await new Promise((resolve) => setTimeout(resolve, 600));
    expect(receiver.received).toEqual([]);
    expect(await webhookServer.deliveries()).toEqual([]);
  });

  test("sends a burst to one receiver with limited concurrency", async () => {
    let [now, most] = [0, 0];
    const receiver = await openReceiver((response) => {
      most = Math.max(most, ++now);
      setTimeout(() => {
        now--;
        response.writeHead(200).end();
      }, 5);
    });
    const webhookServer = await openWebhookServer();
    await webhookServer.add(receiver.url);
    await webhookServer.emit(300);
    webhookServer.app.startWorkers();
    await receiver.waitFor(300);
    expect(most).toBeGreaterThan(1);
    expect(most).toBeLessThanOrEqual(8);
    await expectAllDelivered(webhookServer).toBe(true);
    expect(new Set(receiver.eventIds()).size).toBe(300);
    expect(receiver.received).toHaveLength(300);
  });
});

describe("receivers that are slow, dead or redirecting", () => {
  test("do not delay deliveries to others", async () => {
    const webhookServer = await openWebhookServer({ environment: { PROGRAMME_WEBHOOK_CONCURRENCY: "16" } });
    const good = await openReceiver();
    const elsewhere = await openReceiver();
    const bad = [
      await openReceiver(hangs),
      await openReceiver(hangs),
      await openReceiver((response) => void response.socket?.write("HTTP/1.1 2")),
      await openReceiver(answers(302, { location: elsewhere.url })),
      await openReceiver((response) => void response.destroy()),
      await openReceiver(answers(500)),
    ];
    for (const { url } of bad) await webhookServer.add(url);
    await webhookServer.add(good.url);
    webhookServer.app.startWorkers();
    // The first deliveries show which endpoints fail.
    await webhookServer.emit(4);
    await good.waitFor(4);
    for (let count = 5; count <= 40; count++) {
      await webhookServer.emit(1);
      await good.waitFor(count);
    }
    expect(elsewhere.received).toEqual([]);
    expect(new Set(good.eventIds()).size).toBe(40);
  });

  test("do not delay others even if they are many and unknown", async () => {
    const webhookServer = await openWebhookServer({ environment: { PROGRAMME_WEBHOOK_CONCURRENCY: "8" } });
    for (let n = 0; n < 12; n++) await webhookServer.add((await openReceiver(hangs)).url);
    const good = await openReceiver();
    const { endpointId } = await webhookServer.add(good.url);
    webhookServer.app.startWorkers();
    await webhookServer.emit(2);
    await good.waitFor(2);
    // The others were delivered without delay.
    const others = (await webhookServer.deliveries()).filter((delivery) => delivery.endpointId !== endpointId);
    expect(others.filter(({ attempt }) => attempt > 0)).toEqual([]);
  });

  test("that hang use at most a quarter of the concurrency, and one attempt each", async () => {
    const webhookServer = await openWebhookServer({ environment: { PROGRAMME_WEBHOOK_CONCURRENCY: "12" } });
    const hanging = await Promise.all(Array.from({ length: 6 }, () => openReceiver(answers(500))));
    for (const { url } of hanging) await webhookServer.add(url);
    await webhookServer.emit();
    await webhookServer.drain();
    for (const receiver of hanging) receiver.answer(hangs);
    await webhookServer.emit(20);
    webhookServer.clock.advance(10 * minute);
    webhookServer.app.startWorkers();
    const open = () => hanging.map(({ received }) => received.length - 1);
    const total = () => open().reduce((sum, count) => sum + count, 0);
    await waitFor(() => expect(total()).toBe(3));
    await new Promise((resolve) => setTimeout(resolve, 500));
    expect(total()).toBe(3);
    expect(Math.max(...open())).toBe(1);
  });
});

describe("of two processes on one database", () => {
  test("each event is delivered once to each endpoint", async () => {
    const database = await ownDatabase();
    const environment = { PROGRAMME_DATABASE: database };
    const [one, two] = [await openWebhookServer({ environment }), await openWebhookServer({ environment })];
    const receivers = [await openReceiver(), await openReceiver(), await openReceiver()];
    for (const { url } of receivers) await one.add(url);
    one.app.startWorkers();
    two.app.startWorkers();
    const events = [];
    for (let round = 0; round < 20; round++) events.push(...(await (round % 2 ? one : two).emit(10)));
    for (const receiver of receivers) await receiver.waitFor(200);
    await expectAllDelivered(one).toBe(true);
    await Promise.all([one.close(), two.close()]);
    const ids = events.map(({ eventId }) => eventId).toSorted();
    for (const receiver of receivers) expect(receiver.eventIds().toSorted()).toEqual(ids);
  });

  test("one that stops returns its unfinished deliveries, and the other sends them", async () => {
    const environment = { PROGRAMME_DATABASE: await ownDatabase() };
    const clock = new TestClock();
    const [one, two] = [
      await openWebhookServer({ environment, clock }),
      await openWebhookServer({ environment, clock }),
    ];
    const receiver = await openReceiver(hangs);
    await one.add(receiver.url);
    const [event] = await one.emit();
    one.app.startWorkers();
    await receiver.waitFor(1);
    expect(await two.deliveries()).toMatchObject([{ status: "leased", attempt: 0 }]);
    await runWithFastTimers(one.close());
    expect(await two.deliveries()).toMatchObject([{ status: "pending", attempt: 0, leaseUntil: null }]);
    receiver.answer(accepts);
    await two.drain();
    expect(await two.deliveries()).toMatchObject([{ status: "delivered", attempt: 1 }]);
    expect(receiver.eventIds()).toEqual([event?.eventId, event?.eventId]);
  });

  test("one that stops finishes its attempts in flight", async () => {
    const webhookServer = await openWebhookServer({ environment: { PROGRAMME_DATABASE: await ownDatabase() } });
    const receiver = await openReceiver((response) => void setTimeout(() => response.writeHead(200).end(), 500));
    await webhookServer.add(receiver.url);
    await webhookServer.emit();
    webhookServer.app.startWorkers();
    await receiver.waitFor(1);
    await webhookServer.webhooks.deliveries.stop();
    expect(await webhookServer.deliveries()).toMatchObject([{ status: "delivered", attempt: 1 }]);
  });

  test("the other takes over an expired lease, and a late answer is recorded but does not count", async () => {
    const environment = { PROGRAMME_DATABASE: await ownDatabase() };
    const clock = new TestClock();
    const [one, two] = [
      await openWebhookServer({ environment, clock }),
      await openWebhookServer({ environment, clock }),
    ];
    const late: ((status: number) => void)[] = [];
    const receiver = await openReceiver((response) => {
      late.push((status) => response.writeHead(status).end());
    });
    await one.add(receiver.url);
    await one.emit();
    const first = one.drain();
    await receiver.waitFor(1);
    await two.drain();
    expect(receiver.received).toHaveLength(1);
    clock.advance(46 * second);
    const taken = two.drain();
    await receiver.waitFor(2);
    const [leased] = await two.deliveries();
    expect(leased).toMatchObject({ status: "leased", attempt: 0 });
    late[0]?.(500);
    await first;
    expect(await two.deliveries()).toEqual([leased]);
    late[1]?.(200);
    await taken;
    expect(await two.deliveries()).toMatchObject([{ status: "delivered", attempt: 1, lastStatusCode: 200 }]);
    const attempts = await two.app.store.outbox.listAttempts(two.server.businessId, String(leased?.deliveryId));
    expect(attempts.map(({ statusCode }) => statusCode)).toEqual([500, 200]);
  });
});

describe("an endpoint that is removed or disabled", () => {
  test.each<[string, (webhooks: Webhooks, key: { businessId: string; endpointId: string }) => Promise<void>]>([
    ["removed", ({ endpoints }, key) => endpoints.remove(key)],
    ["disabled", ({ endpoints }, key) => endpoints.disable(key, "manual")],
  ])("%s gets no further delivery, and an answer in flight still counts", async (_, end) => {
    const late: (() => void)[] = [];
    const receiver = await openReceiver((response, { headers }) => {
      const status = headers["webhook-id"] === bad?.eventId ? 500 : 200;
      late.push(() => response.writeHead(status).end());
    });
    const webhookServer = await openWebhookServer();
    const key = await webhookServer.add(receiver.url);
    const [bad, good] = await webhookServer.emit(2);
    const sending = webhookServer.drain();
    await receiver.waitFor(2);
    await webhookServer.emit(3);
    await end(webhookServer.webhooks, key);
    expect((await webhookServer.deliveries()).map(({ status }) => status)).toEqual(["cancelled", "cancelled"]);
    for (const answer of late) answer();
    await sending;
    webhookServer.clock.advance(24 * hour);
    await webhookServer.drain();
    const byEvent = new Map((await webhookServer.deliveries()).map(({ eventId, status }) => [eventId, status]));
    expect(byEvent.get(bad?.eventId ?? "")).toBe("cancelled");
    expect(byEvent.get(good?.eventId ?? "")).toBe("delivered");
    expect(byEvent.size).toBe(2);
    expect(receiver.received).toHaveLength(2);
  });
});

test("a delivery whose endpoint could not be loaded is attempted again after a second", async () => {
  const webhookServer = await openWebhookServer();
  const receiver = await openReceiver();
  await webhookServer.add(receiver.url);
  await webhookServer.emit();
  vi.spyOn(webhookServer.webhooks.endpoints, "target").mockRejectedValueOnce(new Error("The database is away"));
  await webhookServer.drain();
  expect(receiver.received).toEqual([]);
  expect(await webhookServer.deliveries()).toMatchObject([{ status: "pending", attempt: 0 }]);
  webhookServer.clock.advance(second);
  await webhookServer.drain();
  expect(await webhookServer.deliveries()).toMatchObject([{ status: "delivered", attempt: 1 }]);
  expect(receiver.received).toHaveLength(1);
});

describe("a secret that cannot be read", () => {
  test("keeps deliveries pending without counting attempts, until it is replaced", async () => {
    const database = await ownDatabase();
    const clock = new TestClock();
    const environment = { PROGRAMME_DATABASE: database, PROGRAMME_SECRET_KEY: "a".repeat(64) };
    const webhookServer = await openWebhookServer({ environment, clock });
    const receiver = await openReceiver();
    const { endpointId, businessId } = await webhookServer.add(receiver.url);
    await webhookServer.emit();
    await webhookServer.close();
    const other = await openWebhookServer({
      environment: { ...environment, PROGRAMME_SECRET_KEY: "b".repeat(64) },
      clock,
    });
    await other.drain();
    expect(receiver.received).toEqual([]);
    expect(await other.deliveries()).toMatchObject([{ status: "pending", attempt: 0 }]);
    await other.webhooks.endpoints.rotateSecret({ businessId, endpointId }, hour);
    clock.advance(5 * minute);
    await other.drain();
    expect(await other.deliveries()).toMatchObject([{ status: "delivered", attempt: 1 }]);
    expect(String(receiver.received[0]?.headers["webhook-signature"]).split(" ")).toHaveLength(1);
  });
});
