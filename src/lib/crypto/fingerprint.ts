import { getOrCreate } from "../bounded-cache.ts";
import { hashSha256Hex } from "./crypto.ts";

/** Of secrets seen last, so that the steps of one call do not each work it out anew; those are in memory all the while. */
const recent = new Map<string, string>();
const maxRecent = 64;

/** By what a secret is known where it must not be kept: its SHA-256 in hexadecimal. */
export function computeSecretFingerprint(secret: string): string {
  return getOrCreate(recent, secret, maxRecent, () => hashSha256Hex(secret));
}
