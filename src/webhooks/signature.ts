import { randomBytes } from "node:crypto";
import { Webhook } from "standardwebhooks";
import { computeHmac } from "../lib/crypto/crypto.ts";

const prefix = "whsec_";

/** Creates a signing secret of 256 random bits in the form of Standard Webhooks. */
export function createSecret(): string {
  return prefix + randomBytes(32).toString("base64");
}

export interface SignedDelivery {
  /** The current secret, then the previous one while it is valid. */
  readonly secrets: readonly [string, ...string[]];
  readonly eventId: string;
  readonly body: string;
  readonly now: Date;
}

/**
 * Creates the signature headers of a delivery: `X-Webhook-Signature` (specification 6.3), keyed with the secret as it was
 * shown, and those of Standard Webhooks, keyed with the decoded secret.
 */
export function createSignatureHeaders({ secrets, eventId, body, now }: SignedDelivery): Record<string, string> {
  const timestamp = String(Math.floor(now.getTime() / 1000));
  const signatures = secrets.map((secret) => new Webhook(secret).sign(eventId, now, body));
  return {
    "x-webhook-signature": `sha256=${computeHmac(secrets[0], body).toString("hex")}`,
    "webhook-id": eventId,
    "webhook-timestamp": timestamp,
    "webhook-signature": signatures.join(" "),
  };
}
