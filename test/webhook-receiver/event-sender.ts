import { randomBytes } from "node:crypto";
import { sign } from "@octokit/webhooks-methods";
import { Webhook } from "standardwebhooks";
import { createExample } from "../../src/contract/definition/example.ts";
import { type EventType, events } from "../../src/contract/events.ts";
import { createId } from "../../src/lib/ids.ts";
import { type RawAnswer, send } from "../support/clients/raw-http.ts";

/** An event as a product sends it. */
export interface SentEvent {
  readonly eventType: string;
  readonly eventId: string;
  readonly timestamp: string;
  readonly data: Readonly<Record<string, unknown>>;
}

export function createEvent(eventType: EventType, at: Date, data: Readonly<Record<string, unknown>> = {}): SentEvent {
  const example = createExample(events[eventType], { optional: true }) as Record<string, unknown>;
  return { eventType, eventId: createId("evt"), timestamp: at.toISOString(), data: { ...example, ...data } };
}

/** Creates a secret in the form of Standard Webhooks. */
export function newSecret(): string {
  return `whsec_${randomBytes(32).toString("base64")}`;
}

/** Returns the signature header of the specification, made by a third-party library. */
export async function signPlain(secret: string, body: string): Promise<Record<string, string>> {
  return { "x-webhook-signature": await sign(secret, body) };
}

/** Returns the headers of Standard Webhooks, made by its own library. */
export function signStandard(secret: string, body: string, at: Date, id = createId("msg")): Record<string, string> {
  const timestamp = String(Math.floor(at.getTime() / 1000));
  return {
    "webhook-id": id,
    "webhook-timestamp": timestamp,
    "webhook-signature": new Webhook(secret).sign(id, at, body),
  };
}

/** Posts a body to a webhook unchanged. */
export function post(
  origin: string,
  webhook: string,
  body: string | Buffer,
  headers: Readonly<Record<string, string>>,
): Promise<RawAnswer> {
  const sent = { "content-type": "application/json", "content-length": String(Buffer.byteLength(body)), ...headers };
  return send(`${origin}/webhooks/${webhook}`, { method: "POST", headers: sent }, body);
}

/** Delivers an event with the signature of the specification. */
export async function deliver(origin: string, webhook: string, secret: string, event: SentEvent): Promise<RawAnswer> {
  const body = JSON.stringify(event);
  return post(origin, webhook, body, await signPlain(secret, body));
}
