import * as z from "zod";
import { personal } from "./definition/field-annotations.ts";
import { common, Id, Timestamp } from "./definition/fields.ts";
import { type EventType, events } from "./events.ts";

export const eventTypes = Object.keys(events) as [EventType, ...EventType[]];

/** Why no more is sent to an endpoint. */
export const disabledReasons = {
  manual: "it was disabled by hand",
  gone: "it answered 410 Gone",
  failing: "nothing but failure for 120 hours",
} as const;
export type DisabledReason = keyof typeof disabledReasons;

/** What can be wrong with an attempt to deliver. */
export const deliveryErrors = {
  status: "it did not answer with success",
  redirect: "it answered with a redirect, which is not followed",
  timeout: "it did not answer in time",
  name_unknown: "its host name is unknown",
  address_refused: "its address is private or reserved",
  connection_failed: "the connection could not be made or broke",
  certificate: "its certificate is not trusted",
  invalid_answer: "its answer is not HTTP",
} as const;
export type DeliveryError = keyof typeof deliveryErrors;
const DeliveryErrorName = z.enum(Object.keys(deliveryErrors) as [DeliveryError, ...DeliveryError[]]);

/** Where events are sent. */
export const WebhookEndpoint = z.object({
  endpointId: Id,
  /** Its path and query may hold a secret of the receiver's: kept out of audit values and logs like the signing secret. */
  url: personal(z.string()),
  /** The types that it is sent; empty for all. */
  eventTypes: z.array(z.enum(eventTypes)),
  /** The signing secret, sealed. */
  secret: personal(z.string()),
  /** The secret before the last rotation, sealed; it signs too until `previousSecretUntil`. */
  previousSecret: personal(z.string()).nullable(),
  previousSecretUntil: Timestamp.nullable(),
  status: z.enum(["enabled", "disabled"]),
  disabledReason: z.enum(Object.keys(disabledReasons) as [DisabledReason, ...DisabledReason[]]).nullable(),
  /** When the failures began that no success has ended. */
  firstFailureAt: Timestamp.nullable(),
  ...common,
});

export const deliveryStatuses = ["pending", "leased", "delivered", "failed", "cancelled"] as const;
export type DeliveryStatus = (typeof deliveryStatuses)[number];

/** One event on its way to one endpoint. */
export const WebhookDelivery = z.object({
  deliveryId: Id,
  businessId: Id,
  endpointId: Id,
  eventId: Id,
  /** Whether it was asked for, beside the one that the event itself led to. */
  replay: z.boolean(),
  status: z.enum(deliveryStatuses),
  /** Attempts made so far. */
  attempt: z.int(),
  /** When the next attempt is due, or the last one was. */
  dueAt: Timestamp,
  /** Until when one process alone may attempt it. */
  leaseUntil: Timestamp.nullable(),
  lastStatusCode: z.int().nullable(),
  lastError: DeliveryErrorName.nullable(),
  deliveredAt: Timestamp.nullable(),
  createdAt: Timestamp,
  updatedAt: Timestamp,
});
export type WebhookDelivery = z.output<typeof WebhookDelivery>;

/** One attempt to deliver, and the beginning of what was answered. */
export const WebhookAttempt = z.object({
  attemptId: Id,
  deliveryId: Id,
  startedAt: Timestamp,
  durationMs: z.int(),
  statusCode: z.int().nullable(),
  error: DeliveryErrorName.nullable(),
  /** At most 1,024 bytes; null without an answer. */
  answer: z.string().nullable(),
});
export type WebhookAttempt = z.output<typeof WebhookAttempt>;
