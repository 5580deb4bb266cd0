import type { EventFields } from "../contract/event-log.ts";
import type { WebhookResponse } from "../contract/webhook-responses.ts";
import type { Clock } from "../lib/clock.ts";
import type { Log } from "../lib/log.ts";
import type { Inbox } from "../store/queues/event-log.ts";
import { parseEvent } from "./receive-event.ts";
import { type SignedWebhook, verifySignature } from "./receive-signature.ts";

/** A webhook that comes in. */
export interface Incoming {
  /** Under which its events are kept. */
  readonly log: string;
  /** The signing secret; while it is being replaced, the new one and the old one. */
  readonly secrets: readonly string[];
}

export interface Receiver {
  knows(webhook: string): boolean;
  /** Verifies a delivery and keeps its event. Once this resolves, a crash loses nothing. */
  receive(webhook: string, delivery: SignedWebhook): Promise<WebhookResponse>;
}

export interface ReceiverDeps {
  /** By name. */
  readonly webhooks: ReadonlyMap<string, Incoming>;
  readonly inbox: Inbox;
  readonly clock: Clock;
  readonly log: Log;
}

const [minuteMs, dayMs] = [60_000, 86_400_000];
export const toleranceMs = 5 * minuteMs;
/**
 * How late an event may come where the attempt itself bears no date: tries go on for days with the very same body and
 * signature. What was received is remembered for longer, so what is sent again in the meantime counts once all the same.
 */
const latenessMs = 4 * dayMs;
export const keptMs = 30 * dayMs;
export const maxEvents = 50_000;

/** Takes what senders deliver to named webhooks: genuine events that are not too old, each once. */
export function createReceiver({ webhooks, inbox, clock, log }: ReceiverDeps): Receiver {
  const warnedMs = new Map<string, number>();

  /** Anybody can send something unsigned: that must not fill the log. */
  function warn(webhook: string, receipt: WebhookResponse): void {
    const nowMs = clock.now().getTime();
    if (nowMs - (warnedMs.get(webhook) ?? 0) < minuteMs) return;
    warnedMs.set(webhook, nowMs);
    log.warn({ webhook, receipt }, "A delivery was refused");
  }

  async function take(
    webhook: string,
    { log: kept, secrets }: Incoming,
    delivery: SignedWebhook,
  ): Promise<WebhookResponse> {
    const verification = verifySignature(delivery, secrets);
    if (!verification.genuine) return "unsigned";
    const event = parseEvent(delivery.body);
    if (!event) return "malformed";
    const now = clock.now();
    if (isStale(event, verification.attemptMs, now.getTime())) return "stale";
    const notBefore = new Date(now.getTime() - keptMs).toISOString();
    const isNew = await inbox.keep(kept, { ...event, webhook }, now.toISOString(), { notBefore, maxEvents });
    log.debug({ webhook, eventId: event.eventId, eventType: event.eventType, isNew }, "An event came in");
    return isNew ? "accepted" : "repeated";
  }

  return {
    knows: (webhook) => webhooks.has(webhook),
    async receive(webhook, delivery) {
      const incoming = webhooks.get(webhook);
      if (!incoming) return "unsigned";
      const receipt = await take(webhook, incoming, delivery);
      if (receipt !== "accepted" && receipt !== "repeated") warn(webhook, receipt);
      return receipt;
    },
  };
}

/** By the date of the attempt, which its sender signed; without one, by that of the event. */
function isStale({ timestamp }: EventFields, attemptMs: number | undefined, nowMs: number): boolean {
  const agoMs = nowMs - (attemptMs ?? Date.parse(timestamp));
  return agoMs < -toleranceMs || agoMs > (attemptMs === undefined ? latenessMs : toleranceMs);
}
