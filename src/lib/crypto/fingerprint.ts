import { LRUCache } from "lru-cache";
import { hashSha256Hex } from "./crypto.ts";

/**
 * Fingerprints of recent secrets, so that the steps of one call do not compute them again. The secrets themselves are
 * in memory anyway.
 */
const recent = new LRUCache<string, string>({ max: 64 });

/** Returns a secret's SHA-256 in hexadecimal, which identifies it where it must not be stored. */
export function computeSecretFingerprint(secret: string): string {
  const known = recent.get(secret);
  if (known !== undefined) return known;
  const fingerprint = hashSha256Hex(secret);
  recent.set(secret, fingerprint);
  return fingerprint;
}
