import type { IncomingHttpHeaders } from "node:http";
import { Webhook } from "standardwebhooks";
import { computeHmac, equalsInConstantTime } from "../lib/crypto/crypto.ts";

export interface SignedWebhook {
  readonly headers: IncomingHttpHeaders;
  /** The body as received. */
  readonly body: Buffer;
}

/** The result of the check of a signature, with the time of the attempt if the sender signs it. */
export type Verification = { readonly genuine: false } | { readonly genuine: true; readonly attemptMs?: number };

/**
 * Verifies `X-Webhook-Signature` (specification 6.3) and the headers of Standard Webhooks. At least one of the two must be
 * present, and each one that is present must be valid. Several secrets are valid while one is being replaced.
 */
export function verifySignature({ headers, body }: SignedWebhook, secrets: readonly string[]): Verification {
  const plain = headers["x-webhook-signature"];
  const standard = standardNames.map((name) => headers[name]);
  const isStandard = standard.some((value) => value !== undefined);
  if (plain === undefined && !isStandard) return { genuine: false };
  if (plain !== undefined && !hasValidSignature(plain, body, secrets)) return { genuine: false };
  if (!isStandard) return { genuine: true };
  const attemptMs = findSignedTime(standard, body, secrets);
  return attemptMs === undefined ? { genuine: false } : { genuine: true, attemptMs };
}

const standardNames = ["webhook-id", "webhook-timestamp", "webhook-signature"] as const;

type Header = string | readonly string[] | undefined;

function hasValidSignature(header: Header, body: Buffer, secrets: readonly string[]): boolean {
  const digits = typeof header === "string" ? /^sha256=([0-9a-f]{64})$/i.exec(header)?.[1] : undefined;
  if (digits === undefined) return false;
  const given = [Buffer.from(digits, "hex")];
  return isAny(
    given,
    secrets.map((secret) => computeHmac(secret, body)),
  );
}

/** Returns the time of the attempt in milliseconds if a version 1 signature (HMAC-SHA256) is valid. */
function findSignedTime([id, timestamp, signatures]: readonly Header[], body: Buffer, secrets: readonly string[]) {
  if (typeof id !== "string" || !/^[\x21-\x7e]{1,255}$/.test(id)) return undefined;
  if (typeof timestamp !== "string" || !/^\d{1,12}$/.test(timestamp)) return undefined;
  const given = typeof signatures === "string" ? parseSignatures(signatures) : [];
  const attemptMs = Number(timestamp) * 1000;
  // The library's own check goes by the system's clock and knows one secret only.
  const right = secrets
    .flatMap(listKeys)
    .flatMap((key) => parseSignatures(new Webhook(key, { format: "raw" }).sign(id, new Date(attemptMs), body)));
  return isAny(given, right) ? attemptMs : undefined;
}

/** Limits the signatures of a header, because each is compared with several. */
const maxSignatures = 16;

/** Parses the version 1 signatures in a list such as `v1,<base64> v1a,<base64>`; ignores others. */
export function parseSignatures(list: string): Buffer[] {
  return list
    .split(" ", maxSignatures)
    .map((entry) => /^v1,([A-Za-z0-9+/]{43}=)$/.exec(entry)?.[1])
    .filter((base64) => base64 !== undefined)
    .map((base64) => Buffer.from(base64, "base64"));
}

const prefix = "whsec_";

/** Lists the possible keys of a secret: its decoded bytes if it is Base64, otherwise the secret itself. */
function listKeys(secret: string): Buffer[] {
  const base64 = secret.startsWith(prefix) ? secret.slice(prefix.length) : secret;
  const bytes = Buffer.from(base64, "base64");
  const isBase64 = bytes.length > 0 && bytes.toString("base64").replace(/=+$/, "") === base64.replace(/=+$/, "");
  return [...(isBase64 ? [bytes] : []), ...(secret.startsWith(prefix) && isBase64 ? [] : [Buffer.from(secret)])];
}

/** Compares all with all, so that the time does not reveal which one matched. */
function isAny(given: readonly Buffer[], right: readonly Buffer[]): boolean {
  let found = false;
  for (const one of given) {
    for (const other of right) if (equalsInConstantTime(one, other)) found = true;
  }
  return found;
}
