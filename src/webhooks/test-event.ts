import { createExample } from "../contract/definition/example.ts";
import { type EventType, events } from "../contract/events.ts";
import type { Clock } from "../lib/clock.ts";
import { createId } from "../lib/ids.ts";
import type { EndpointKey } from "../store/queues/outbox.ts";
import type { Endpoints } from "./endpoints.ts";
import type { Attempt } from "./retry-schedule.ts";
import type { Sender } from "./sender.ts";
import { createSignatureHeaders } from "./signature.ts";
import { findUrlFault, type UrlRules } from "./url.ts";

/** Sends an example event at once, signed like any other, without a retry or a record. */
export type TestEventSender = (key: EndpointKey, eventType: EventType) => Promise<TestEventResult>;

export type TestEventResult = Attempt & { readonly eventId: string };

export interface TestEventDeps {
  readonly endpoints: Pick<Endpoints, "target">;
  readonly send: Sender;
  readonly clock: Clock;
  readonly rules: UrlRules;
}

/** @throws Error if the endpoint is disabled, its address is blocked or its secret was encrypted with another key */
export function createTestEventSender({ endpoints, send, clock, rules }: TestEventDeps): TestEventSender {
  return async (key, eventType) => {
    const target = await endpoints.target(key);
    if (!target) throw new Error(`${key.endpointId} is disabled; enable it first`);
    const { url, secrets } = target;
    const fault = findUrlFault(url, rules);
    if (fault !== undefined) throw new Error(`Nothing is sent to the address of ${key.endpointId}: ${fault}`);
    if (!secrets) throw new Error(`The secret of ${key.endpointId} was encrypted with another key; rotate it first`);
    const now = clock.now();
    const eventId = createId("evt");
    const data = createExample(events[eventType], { optional: true }) as Readonly<Record<string, unknown>>;
    const payload = { eventType, eventId, timestamp: now.toISOString(), data: { ...data, businessId: key.businessId } };
    const body = JSON.stringify(payload);
    const headers = createSignatureHeaders({ secrets, eventId, body, now });
    return { eventId, ...(await send({ url, headers, body }, new AbortController().signal)) };
  };
}
