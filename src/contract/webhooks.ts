import * as z from "zod";
import { personal } from "./definition/field-annotations.ts";
import { common, Id, Timestamp } from "./definition/fields.ts";
import { type EventType, events } from "./events.ts";

export const eventTypes = Object.keys(events) as [EventType, ...EventType[]];

/** Reasons why an endpoint is disabled. */
export const disabledReasons = {
  manual: "it was disabled by hand",
  gone: "it answered 410 Gone",
  failing: "all deliveries failed for 120 hours",
} as const;
export type DisabledReason = keyof typeof disabledReasons;

/** Reasons why a delivery attempt failed. */
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

export const WebhookEndpoint = z.object({
  endpointId: Id,
  /** The path and query may contain a secret of the receiver, so the URL stays out of audit values and logs. */
  url: personal(z.string()),
  /** The event types to send; empty for all. */
  eventTypes: z.array(z.enum(eventTypes)),
  /** The signing secret, encrypted. */
  secret: personal(z.string()),
  /** The secret before the last rotation, encrypted. It signs as well until `previousSecretUntil`. */
  previousSecret: personal(z.string()).nullable(),
  previousSecretUntil: Timestamp.nullable(),
  status: z.enum(["enabled", "disabled"]),
  disabledReason: z.enum(Object.keys(disabledReasons) as [DisabledReason, ...DisabledReason[]]).nullable(),
  /** Start of the current series of failures. */
  firstFailureAt: Timestamp.nullable(),
  ...common,
});

export const deliveryStatuses = ["pending", "leased", "delivered", "failed", "cancelled"] as const;
export type DeliveryStatus = (typeof deliveryStatuses)[number];

/** The delivery of one event to one endpoint. */
export const WebhookDelivery = z.object({
  deliveryId: Id,
  businessId: Id,
  endpointId: Id,
  eventId: Id,
  /** True if somebody requested the delivery in addition to the automatic one. */
  replay: z.boolean(),
  status: z.enum(deliveryStatuses),
  attempt: z.int(),
  /** When the next attempt is due; after the last attempt, when that one was. */
  dueAt: Timestamp,
  /** Until then, only the process that holds the lease may attempt the delivery. */
  leaseUntil: Timestamp.nullable(),
  lastStatusCode: z.int().nullable(),
  lastError: DeliveryErrorName.nullable(),
  deliveredAt: Timestamp.nullable(),
  createdAt: Timestamp,
  updatedAt: Timestamp,
});
export type WebhookDelivery = z.output<typeof WebhookDelivery>;

/** One delivery attempt, with the beginning of the response. */
export const WebhookAttempt = z.object({
  attemptId: Id,
  deliveryId: Id,
  startedAt: Timestamp,
  durationMs: z.int(),
  statusCode: z.int().nullable(),
  error: DeliveryErrorName.nullable(),
  /** At most 1,024 bytes; null without a response. */
  answer: z.string().nullable(),
});
export type WebhookAttempt = z.output<typeof WebhookAttempt>;

/** Responses to the sender of a received webhook. */
export const webhookResponses = {
  accepted: { status: 204, message: "" },
  /** A repeated delivery, which changes nothing. */
  repeated: { status: 204, message: "" },
  unsigned: { status: 401, message: "The signature is not that of this webhook." },
  stale: { status: 400, message: "The delivery's timestamp is too old, or in the future." },
  malformed: { status: 400, message: "The body is not an event." },
} as const;

export type WebhookResponse = keyof typeof webhookResponses;
