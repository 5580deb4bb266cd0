import { randomBytes } from "node:crypto";
import { Webhook } from "standardwebhooks";
import { computeHmac } from "../lib/crypto/crypto.ts";

const prefix = "whsec_";

/** A new signing secret: 256 random bits, as Standard Webhooks writes them. */
export function createSecret(): string {
  return prefix + randomBytes(32).toString("base64");
}

export interface SignedDelivery {
  /** The secret that is valid now, then the one before it while it still is. */
  readonly secrets: readonly [string, ...string[]];
  readonly eventId: string;
  readonly body: string;
  readonly now: Date;
}

/**
 * The headers by which a receiver knows that a delivery is genuine: `X-Webhook-Signature` (specification 6.3), keyed with
 * the secret as it was shown, and those of Standard Webhooks, keyed with the bytes that the secret stands for.
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
