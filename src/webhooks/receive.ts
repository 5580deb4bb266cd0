import type { EventFields } from "../contract/event-log.ts";
import type { WebhookResponse } from "../contract/webhooks.ts";
import type { Clock } from "../lib/clock.ts";
import type { Log } from "../lib/log.ts";
import { LogOnce } from "../lib/log-once.ts";
import type { Inbox } from "../store/queues/event-log.ts";
import { parseEvent } from "./receive-event.ts";
import { type SignedWebhook, verifySignature } from "./receive-signature.ts";

/** A configured webhook that receives deliveries. */
export interface ReceivedWebhook {
  /** The log that stores its events. */
  readonly log: string;
  /** The signing secret; during a replacement the new and the old one. */
  readonly secrets: readonly string[];
}

export interface Receiver {
  knows(webhook: string): boolean;
  /** Verifies a delivery and stores its event durably. */
  receive(webhook: string, delivery: SignedWebhook): Promise<WebhookResponse>;
}

export interface ReceiverDeps {
  /** By name. */
  readonly webhooks: ReadonlyMap<string, ReceivedWebhook>;
  readonly inbox: Inbox;
  readonly clock: Clock;
  readonly log: Log;
}

const [minuteMs, dayMs] = [60_000, 86_400_000];
export const toleranceMs = 5 * minuteMs;
/**
 * The maximum age of an event if the attempt has no signed time: senders retry for days with the same body and signature.
 * Received events are stored for longer, so a repeated delivery counts once.
 */
const latenessMs = 4 * dayMs;
export const keptMs = 30 * dayMs;
export const maxEvents = 50_000;

/** Receives deliveries to named webhooks: genuine events that are not stale, each once. */
export function createReceiver({ webhooks, inbox, clock, log }: ReceiverDeps): Receiver {
  const warnings = new LogOnce(minuteMs);

  /** Warns once a minute, because anyone can send unsigned requests and must not fill the log. */
  function warn(webhook: string, receipt: WebhookResponse): void {
    if (warnings.isDue(webhook, clock.now().getTime())) log.warn({ webhook, receipt }, "A delivery was refused");
  }

  async function store(
    webhook: string,
    { log: logName, secrets }: ReceivedWebhook,
    delivery: SignedWebhook,
  ): Promise<WebhookResponse> {
    const verification = verifySignature(delivery, secrets);
    if (!verification.genuine) return "unsigned";
    const event = parseEvent(delivery.body);
    if (!event) return "malformed";
    const now = clock.now();
    if (isStale(event, verification.attemptMs, now.getTime())) return "stale";
    const notBefore = new Date(now.getTime() - keptMs).toISOString();
    const isNew = await inbox.keep(logName, { ...event, webhook }, now.toISOString(), { notBefore, maxEvents });
    log.debug({ webhook, eventId: event.eventId, eventType: event.eventType, isNew }, "An event was received");
    return isNew ? "accepted" : "repeated";
  }

  return {
    knows: (webhook) => webhooks.has(webhook),
    async receive(webhook, delivery) {
      const incoming = webhooks.get(webhook);
      if (!incoming) return "unsigned";
      const receipt = await store(webhook, incoming, delivery);
      if (receipt !== "accepted" && receipt !== "repeated") warn(webhook, receipt);
      return receipt;
    },
  };
}

/** Checks the signed time of the attempt; without one, the time of the event. */
function isStale({ timestamp }: EventFields, attemptMs: number | undefined, nowMs: number): boolean {
  const agoMs = nowMs - (attemptMs ?? Date.parse(timestamp));
  return agoMs < -toleranceMs || agoMs > (attemptMs === undefined ? latenessMs : toleranceMs);
}
