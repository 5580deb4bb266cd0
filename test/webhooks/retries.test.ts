import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { giveUpAfterMs, jitter, planNextAttempt, webhookRetryDelaysMs } from "../../src/webhooks/retry-schedule.ts";
import { accepts, answers, openReceiver } from "./receiver.ts";
import { day, hour, minute, openWebhookServer, second, type WebhookServer } from "./webhook-server.ts";

const delaysMs = [5 * second, 5 * minute, 30 * minute, 2 * hour, 5 * hour, 10 * hour, 14 * hour, 20 * hour, 24 * hour];

/** Sends, then moves the clock on to when the next attempt is due, until none is. Gives the delays. */
async function attemptAll({ clock, drain, deliveries }: WebhookServer): Promise<number[]> {
  const delays: number[] = [];
  for (;;) {
    await drain();
    const [delivery] = await deliveries();
    if (delivery?.status !== "pending") return delays;
    const delayMs = Date.parse(delivery.dueAt) - clock.now().getTime();
    // A moment before, nothing happens.
    clock.advance(delayMs - 1);
    await drain();
    expect((await deliveries())[0]).toEqual(delivery);
    clock.advance(1);
    delays.push(delayMs);
  }
}

describe("a failed delivery", () => {
  test("is attempted ten times under one id, on a schedule with 20% jitter", async () => {
    const receiver = await openReceiver(answers(500, {}, "down"));
    const webhookServer = await openWebhookServer();
    const { endpointId } = await webhookServer.add(receiver.url);
    const [event] = await webhookServer.emit();
    const delays = await attemptAll(webhookServer);
    expect(delays).toHaveLength(9);
    for (const [index, delayMs] of delays.entries()) {
      const plannedMs = delaysMs[index] as number;
      expect(Math.abs(delayMs - plannedMs)).toBeLessThanOrEqual(plannedMs * 0.2 + 1);
    }
    expect(delays).not.toEqual(delaysMs);
    expect(receiver.eventIds()).toEqual(Array(10).fill(event?.eventId));
    expect(new Set(receiver.received.map(({ body }) => body)).size).toBe(1);
    const [delivery] = await webhookServer.deliveries();
    expect(delivery).toMatchObject({ status: "failed", attempt: 10, lastStatusCode: 500, lastError: "status" });
    const attempts = await webhookServer.app.store.outbox.listAttempts(
      webhookServer.server.businessId,
      String(delivery?.deliveryId),
    );
    expect(attempts).toHaveLength(10);
    expect(attempts[0]).toMatchObject({ statusCode: 500, error: "status", answer: "down" });
    webhookServer.clock.advance(day);
    await webhookServer.drain();
    expect(receiver.received).toHaveLength(10);
    expect((await webhookServer.endpoint(endpointId)).status).toBe("enabled");
  });

  test("ends with the first success, which also resets the endpoint's failure time", async () => {
    const receiver = await openReceiver(answers(500));
    const webhookServer = await openWebhookServer();
    const { endpointId } = await webhookServer.add(receiver.url);
    await webhookServer.emit();
    await webhookServer.drain();
    expect((await webhookServer.endpoint(endpointId)).firstFailureAt).toBe(webhookServer.clock.now().toISOString());
    receiver.answer(answers(200, {}, "thanks"));
    webhookServer.clock.advance(6 * second);
    await webhookServer.drain();
    expect(await webhookServer.deliveries()).toMatchObject([
      { status: "delivered", attempt: 2, lastError: null, deliveredAt: webhookServer.clock.now().toISOString() },
    ]);
    expect((await webhookServer.endpoint(endpointId)).firstFailureAt).toBeNull();
    webhookServer.clock.advance(day);
    await webhookServer.drain();
    expect(receiver.received).toHaveLength(2);
  });

  test.each([200, 201, 202, 204, 226, 299])("does not include status %i", async (status) => {
    const receiver = await openReceiver(answers(status));
    const webhookServer = await openWebhookServer();
    await webhookServer.add(receiver.url);
    await webhookServer.emit();
    await webhookServer.drain();
    expect(await webhookServer.deliveries()).toMatchObject([
      { status: "delivered", attempt: 1, lastStatusCode: status },
    ]);
  });

  test.each([300, 304, 400, 401, 404, 409, 422, 429, 500, 502, 503])("includes status %i", async (status) => {
    const receiver = await openReceiver(answers(status));
    const webhookServer = await openWebhookServer();
    await webhookServer.add(receiver.url);
    await webhookServer.emit();
    await webhookServer.drain();
    expect(await webhookServer.deliveries()).toMatchObject([{ status: "pending", attempt: 1, lastStatusCode: status }]);
  });
});

describe("the schedule", () => {
  const failed = { statusCode: 500, error: "status", answer: null, durationMs: 1 } as const;
  const nowMs = Date.parse("2026-11-20T09:00:00.000Z");

  test("keeps within its bounds whatever comes", () => {
    const attempt = fc.record({
      attempts: fc.integer({ min: 1, max: 10 }),
      random: fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }),
      retryAfter: fc.option(
        fc.oneof(
          fc.nat().map(String),
          fc
            .date({ min: new Date(0), max: new Date("2100-01-01"), noInvalidDate: true })
            .map((date) => date.toUTCString()),
          fc.string(),
        ),
        { nil: undefined },
      ),
    });
    fc.assert(
      fc.property(attempt, ({ attempts, random, retryAfter }) => {
        const { next, pauseUntil } = planNextAttempt(
          { ...failed, statusCode: 503, retryAfter },
          attempts,
          nowMs,
          () => random,
        );
        if (pauseUntil !== undefined) {
          expect(Date.parse(pauseUntil)).toBeGreaterThan(nowMs);
          expect(Date.parse(pauseUntil)).toBeLessThanOrEqual(nowMs + day);
        }
        const plannedMs = webhookRetryDelaysMs[attempts - 1];
        expect(next.status).toBe(plannedMs === undefined ? "failed" : "pending");
        if (plannedMs === undefined || next.status !== "pending") return;
        const delayMs = Date.parse(next.dueAt) - nowMs;
        expect(delayMs).toBeGreaterThanOrEqual(Math.floor(plannedMs * (1 - jitter)));
        expect(delayMs).toBeLessThanOrEqual(Math.max(plannedMs * (1 + jitter), day));
        if (pauseUntil !== undefined) expect(Date.parse(next.dueAt)).toBeGreaterThanOrEqual(Date.parse(pauseUntil));
      }),
    );
  });

  test("has the documented delays", () => {
    expect(webhookRetryDelaysMs).toEqual(delaysMs);
    expect(jitter).toBe(0.2);
    expect(giveUpAfterMs).toBe(120 * hour);
  });
});

describe("Retry-After", () => {
  const inAnHour = (clock: WebhookServer["clock"]) => new Date(clock.now().getTime() + hour).toUTCString();

  test.each([
    [429, () => "3600", hour],
    [503, inAnHour, hour],
    [503, () => "999999999", day],
  ])("of a %i delays all deliveries to the endpoint, up to a day", async (status, retryAfter, waitMs) => {
    const webhookServer = await openWebhookServer();
    const receiver = await openReceiver(answers(status, { "retry-after": retryAfter(webhookServer.clock) }));
    await webhookServer.add(receiver.url);
    await webhookServer.emit();
    await webhookServer.drain();
    receiver.answer(accepts);
    await webhookServer.emit();
    webhookServer.clock.advance(waitMs - 1);
    await webhookServer.drain();
    expect(receiver.received).toHaveLength(1);
    webhookServer.clock.advance(1);
    await webhookServer.drain();
    expect(receiver.received).toHaveLength(3);
  });

  test.each([
    [500, "3600"],
    [429, "0"],
    [429, "-5"],
    [429, "soon"],
    [503, "Thu, 01 Jan 1970 00:00:00 GMT"],
  ])("of a %i with %s changes nothing", async (status, retryAfter) => {
    const webhookServer = await openWebhookServer();
    const receiver = await openReceiver(answers(status, { "retry-after": retryAfter }));
    await webhookServer.add(receiver.url);
    await webhookServer.emit();
    await webhookServer.drain();
    receiver.answer(accepts);
    webhookServer.clock.advance(6 * second);
    await webhookServer.drain();
    expect(receiver.received).toHaveLength(2);
  });
});

describe("an endpoint is disabled", () => {
  const auditOf = async ({ app, server }: WebhookServer) =>
    (await app.store.reader(server.businessId).pageAudit({ entityType: "webhook_endpoint" }, { limit: 10 })).rows;

  test("by 410 at once, and its other deliveries are cancelled", async () => {
    const webhookServer = await openWebhookServer();
    const receiver = await openReceiver(answers(500));
    const { endpointId } = await webhookServer.add(receiver.url);
    await webhookServer.emit(3);
    await webhookServer.drain();
    receiver.answer(answers(410));
    webhookServer.clock.advance(6 * second);
    await webhookServer.drain();
    expect(await webhookServer.endpoint(endpointId)).toMatchObject({ status: "disabled", disabledReason: "gone" });
    const before = receiver.received.length;
    await webhookServer.emit();
    webhookServer.clock.advance(2 * day);
    await webhookServer.drain();
    expect(receiver.received).toHaveLength(before);
    const statuses = (await webhookServer.deliveries()).map(({ status }) => status);
    expect(statuses).toHaveLength(3);
    expect(statuses).toContain("failed");
    expect(statuses.every((status) => status === "failed" || status === "cancelled")).toBe(true);
    const [entry] = await auditOf(webhookServer);
    expect(entry).toMatchObject({ action: "webhook_endpoint.disabled", actorType: "system", actorId: "webhooks" });
    expect(entry?.changes).toContainEqual({ path: "disabledReason", from: null, to: "gone" });
  });

  test("after 120 hours without a success", async () => {
    const webhookServer = await openWebhookServer();
    const receiver = await openReceiver(answers(500));
    const { endpointId } = await webhookServer.add(receiver.url);
    for (let hours = 0; hours < 120; hours += 10) {
      await webhookServer.emit();
      await webhookServer.drain();
      expect((await webhookServer.endpoint(endpointId)).status).toBe("enabled");
      webhookServer.clock.advance(10 * hour);
    }
    await webhookServer.emit();
    await webhookServer.drain();
    expect(await webhookServer.endpoint(endpointId)).toMatchObject({ status: "disabled", disabledReason: "failing" });
    expect(
      (await webhookServer.deliveries()).every(({ status }) => status === "failed" || status === "cancelled"),
    ).toBe(true);
  });

  test("not while anything succeeds within 120 hours", async () => {
    const webhookServer = await openWebhookServer();
    const receiver = await openReceiver(answers(500));
    const { endpointId } = await webhookServer.add(receiver.url);
    for (let days = 0; days < 20; days++) {
      receiver.answer(days % 4 === 3 ? accepts : answers(500));
      await webhookServer.emit();
      await webhookServer.drain();
      webhookServer.clock.advance(day);
    }
    expect((await webhookServer.endpoint(endpointId)).status).toBe("enabled");
  });
});
