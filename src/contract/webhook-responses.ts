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
