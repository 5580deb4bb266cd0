import { createExample } from "../contract/definition/example.ts";
import { type EventType, events } from "../contract/events.ts";
import type { Clock } from "../lib/clock.ts";
import { createId } from "../lib/ids.ts";
import type { EndpointKey } from "../store/queues/outbox.ts";
import type { Endpoints } from "./endpoints.ts";
import type { Attempt } from "./schedule.ts";
import type { Sender } from "./sender.ts";
import { signatureHeaders } from "./signature.ts";
import { type UrlRules, urlFault } from "./url.ts";

/** Sends an invented event of a type at once, signed like every other, once and without a record. */
export type Probe = (key: EndpointKey, eventType: EventType) => Promise<ProbeResult>;

export type ProbeResult = Attempt & { readonly eventId: string };

export interface ProbeDeps {
  readonly endpoints: Pick<Endpoints, "target">;
  readonly send: Sender;
  readonly clock: Clock;
  readonly rules: UrlRules;
}

/** @throws Error when the endpoint is disabled, its address may not be sent to, or its secret was sealed under another key */
export function createProbe({ endpoints, send, clock, rules }: ProbeDeps): Probe {
  return async (key, eventType) => {
    const target = await endpoints.target(key);
    if (!target) throw new Error(`${key.endpointId} is disabled; enable it first`);
    const { url, secrets } = target;
    const fault = urlFault(url, rules);
    if (fault !== undefined) throw new Error(`Nothing is sent to the address of ${key.endpointId}: ${fault}`);
    if (!secrets) throw new Error(`The secret of ${key.endpointId} was sealed under another key; rotate it first`);
    const now = clock.now();
    const eventId = createId("evt");
    const data = createExample(events[eventType], { optional: true }) as Readonly<Record<string, unknown>>;
    const payload = { eventType, eventId, timestamp: now.toISOString(), data: { ...data, businessId: key.businessId } };
    const body = JSON.stringify(payload);
    const headers = signatureHeaders({ secrets, eventId, body, now });
    return { eventId, ...(await send({ url, headers, body }, new AbortController().signal)) };
  };
}
