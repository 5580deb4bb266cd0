import { LRUCache } from "lru-cache";
import { hashSha256Hex } from "./crypto.ts";

/**
 * Fingerprints of recent secrets, so that the steps of one call do not compute them again. The secrets themselves are
 * in memory anyway.
 */
const recent = new LRUCache<string, string>({ max: 64 });
/** The steps of one call ask for the same secret, and comparing two texts costs less than the cache. */
let last = { secret: "", fingerprint: hashSha256Hex("") };

/** Returns a secret's SHA-256 in hexadecimal, which identifies it where it must not be stored. */
export function computeSecretFingerprint(secret: string): string {
  if (secret === last.secret) return last.fingerprint;
  const known = recent.get(secret);
  const fingerprint = known ?? hashSha256Hex(secret);
  if (known === undefined) recent.set(secret, fingerprint);
  last = { secret, fingerprint };
  return fingerprint;
}
