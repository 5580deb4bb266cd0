import { verify } from "@octokit/webhooks-methods";
import { Webhook, WebhookVerificationError } from "standardwebhooks";
import { describe, expect, test, vi } from "vitest";
import { type EventPayload, type EventType, events } from "../../src/contract/events.ts";
import { version } from "../../src/lib/version.ts";
import { openReceiver, type Received } from "./receiver.ts";
import { hour, openWebhookServer } from "./webhook-server.ts";

const standardHeaders = ({ headers }: Received) => headers as Record<string, string>;

describe("an event", () => {
  test("of a change made through the interface arrives as it was written, signed for both kinds of receiver", async () => {
    const receiver = await openReceiver();
    const { server, clock, add, drain } = await openWebhookServer();
    // The library compares with the time of the machine.
    vi.useFakeTimers({ toFake: ["Date"], now: clock.now() });
    const { endpointId, secret } = await add(receiver.url);
    const { submissionId } = await server.seed.submission({ state: "SUBMITTED", title: "Föhn & Co. \u{1f3d4}" });
    const chair = await server.as("REST");
    await chair.withdraw_submission({ submissionId, version: 0, reason: "No longer needed" });
    await drain();

    const written = await server.outbox();
    expect(written.map(({ eventType }) => eventType).toSorted()).toEqual([
      "submission.state_changed",
      "submission.withdrawn",
    ]);
    expect(receiver.received.map(({ body }) => JSON.parse(body)).toSorted(byType)).toEqual(written.toSorted(byType));
    for (const received of receiver.received) {
      const { headers, body } = received;
      expect(received).toMatchObject({ method: "POST", path: "/hook" });
      expect(headers).toMatchObject({
        "content-type": "application/json",
        "user-agent": `programme-mcp/${version}`,
        "webhook-id": JSON.parse(body).eventId,
        "webhook-timestamp": String(clock.now().getTime() / 1000),
        "x-webhook-signature": expect.stringMatching(/^sha256=[0-9a-f]{64}$/),
      });
      expect(await verify(secret, body, String(headers["x-webhook-signature"]))).toBe(true);
      expect(await verify(secret, `${body} `, String(headers["x-webhook-signature"]))).toBe(false);
      expect(new Webhook(secret).verify(body, standardHeaders(received))).toEqual(JSON.parse(body));
      expect(() => new Webhook(secret).verify(`${body} `, standardHeaders(received))).toThrow(WebhookVerificationError);
    }
    expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
    const logged = await server.app.store.outbox.listDeliveries(server.businessId, { endpointId }, 10);
    expect(logged).toEqual(
      written
        .toReversed()
        .map(({ eventId, eventType }) =>
          expect.objectContaining({ eventId, eventType, status: "delivered", attempt: 1 }),
        ),
    );
  });

  test("of every type is sent once to each endpoint of its tenant that selects it", async () => {
    const [all, some, foreign] = [await openReceiver(), await openReceiver(), await openReceiver()];
    const { server, webhooks, add, emit, drain } = await openWebhookServer();
    await add(all.url);
    await add(some.url, ["payment.failed", "review.submitted"]);
    const other = await server.other();
    await webhooks.endpoints.add(other.businessId, foreign.url, []);
    const types = Object.keys(events) as EventType[];
    for (const type of types) await emit(1, type);
    await drain();
    await drain();
    const typesAt = (received: readonly Received[]) =>
      received.map(({ body }) => JSON.parse(body).eventType).toSorted();
    expect(typesAt(all.received)).toEqual(types.toSorted());
    expect(typesAt(some.received)).toEqual(["payment.failed", "review.submitted"]);
    expect(foreign.received).toEqual([]);
    for (const { body } of all.received) {
      const { eventType, data } = JSON.parse(body) as { eventType: EventType; data: unknown };
      expect(events[eventType].safeParse(data).success).toBe(true);
    }
  });

  test("from before an endpoint was added, or while it was disabled, is not sent to it", async () => {
    const receiver = await openReceiver();
    const { webhooks, add, emit, drain } = await openWebhookServer();
    const earlier = await openReceiver();
    await add(earlier.url);
    await emit(3);
    await drain();
    await emit(2);
    const added = await add(receiver.url);
    const [first] = await emit();
    await drain();
    await webhooks.endpoints.disable(added, "manual");
    await emit(2);
    await drain();
    await webhooks.endpoints.enable(added);
    const [last] = await emit();
    await drain();
    expect(receiver.eventIds()).toEqual([first?.eventId, last?.eventId]);
    expect(earlier.received).toHaveLength(9);
  });

  test("of a rolled-back change is never sent", async () => {
    const receiver = await openReceiver();
    const { app, server, add, emit, drain } = await openWebhookServer();
    await add(receiver.url);
    const [kept] = await emit();
    const undo = new Error("undo");
    const actor = { businessId: server.businessId, actorId: "usr_test", now: server.clock.now().toISOString() };
    const undone = app.store.transaction(actor, async (transaction) => {
      await transaction.appendEvents([{ ...(kept as EventPayload), eventId: "evt_undone" }]);
      throw undo;
    });
    await expect(undone).rejects.toBe(undo);
    await drain();
    expect(receiver.eventIds()).toEqual([kept?.eventId]);
  });
});

describe("a signing secret", () => {
  test("that was rotated signs together with the new one for a while", async () => {
    const receiver = await openReceiver();
    const { clock, webhooks, add, emit, drain } = await openWebhookServer();
    vi.useFakeTimers({ toFake: ["Date"], now: clock.now() });
    const before = await add(receiver.url);
    const after = await webhooks.endpoints.rotateSecret(before, 24 * hour);
    expect(after.secret).not.toBe(before.secret);
    const received = async () => {
      await emit();
      await drain();
      return receiver.received.at(-1) as Received;
    };
    const knows = (secret: string, { body, headers }: Received) => {
      try {
        return new Webhook(secret).verify(body, headers as Record<string, string>) !== undefined;
      } catch {
        return false;
      }
    };
    const during = await received();
    expect([knows(after.secret, during), knows(before.secret, during)]).toEqual([true, true]);
    expect(await verify(after.secret, during.body, String(during.headers["x-webhook-signature"]))).toBe(true);
    expect(await verify(before.secret, during.body, String(during.headers["x-webhook-signature"]))).toBe(false);
    clock.advance(24 * hour);
    vi.setSystemTime(clock.now());
    const later = await received();
    expect([knows(after.secret, later), knows(before.secret, later)]).toEqual([true, false]);
    const last = await webhooks.endpoints.rotateSecret(before, 0);
    const final = await received();
    expect([knows(last.secret, final), knows(after.secret, final)]).toEqual([true, false]);
  });
});

function byType(left: { eventType: string }, right: { eventType: string }): number {
  return left.eventType < right.eventType ? -1 : 1;
}
