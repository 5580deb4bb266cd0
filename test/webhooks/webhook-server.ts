import { onTestFinished } from "vitest";
import type { App, Webhooks } from "../../src/app/app.ts";
import { createExample } from "../../src/contract/definition/example.ts";
import { type EventPayload, type EventType, events } from "../../src/contract/events.ts";
import { createId } from "../../src/lib/ids.ts";
import type { Log } from "../../src/lib/log.ts";
import type { Row } from "../../src/store/tables.ts";
import { openTestServer, TestClock, type TestServer } from "../support/servers/test-server.ts";

/** A service that may send to this machine, and ways to make it. Nothing is sent before a test says so. */
export interface WebhookServer {
  readonly server: TestServer;
  readonly app: App;
  readonly clock: TestClock;
  readonly webhooks: Webhooks;
  /** Writes events of a type as a change would, in one transaction. */
  emit(count?: number, eventType?: EventType): Promise<EventPayload[]>;
  /** Registers an endpoint; gives its id and secret. */
  add(
    url: string,
    eventTypes?: readonly EventType[],
  ): Promise<{ endpointId: string; businessId: string; secret: string }>;
  endpoint(endpointId: string): Promise<Row<"webhookEndpoints">>;
  /** Delivers all that is due, at the clock's time. */
  drain(): Promise<void>;
  deliveries(endpointId?: string): Promise<Awaited<ReturnType<App["store"]["outbox"]["listDeliveries"]>>>;
  close(): Promise<void>;
}

interface Given {
  readonly environment?: Record<string, string>;
  readonly clock?: TestClock;
  readonly log?: Log;
}

export async function openWebhookServer({
  environment = {},
  clock = new TestClock(),
  log,
}: Given = {}): Promise<WebhookServer> {
  const settings = { PROGRAMME_WEBHOOK_LOOPBACK: "true", ...environment };
  const { server, close } = await openTestServer(settings, { clock, ...(log ? { log } : {}) });
  let closed: Promise<void> | undefined;
  const closeOnce = () => {
    closed ??= close();
    return closed;
  };
  onTestFinished(closeOnce);
  return createWebhookServer(server, closeOnce);
}

function createWebhookServer(server: TestServer, close: () => Promise<void>): WebhookServer {
  const { app, clock, businessId } = server;
  const webhooks = app.webhooks as Webhooks;
  return {
    server,
    app,
    clock,
    webhooks,
    close,
    async emit(count = 1, eventType = "submission.submitted") {
      const payloads = Array.from({ length: count }, () => createPayload(eventType, businessId, clock.now()));
      const actor = { businessId, actorId: "usr_test", now: clock.now().toISOString() };
      await app.store.transaction(actor, (transaction) => transaction.appendEvents(payloads));
      return payloads;
    },
    add: (url, eventTypes = []) => webhooks.endpoints.add(businessId, url, eventTypes),
    async endpoint(endpointId) {
      const row = await app.store.reader(businessId).get("webhookEndpoints", endpointId);
      if (!row) throw new Error(`No endpoint ${endpointId}`);
      return row;
    },
    drain: () => webhooks.deliveries.drain(),
    deliveries: (endpointId) => app.store.outbox.listDeliveries(businessId, { endpointId }, 1000),
  };
}

function createPayload(eventType: EventType, businessId: string, now: Date): EventPayload {
  const data = createExample(events[eventType], { optional: true }) as EventPayload["data"];
  return { eventType, eventId: createId("evt"), timestamp: now.toISOString(), data: { ...data, businessId } };
}

export const [second, minute, hour, day] = [1_000, 60_000, 3_600_000, 86_400_000];
