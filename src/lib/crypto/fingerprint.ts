import { LRUCache } from "lru-cache";
import { hashSha256Hex } from "./crypto.ts";

/** Of secrets seen last, so that the steps of one call do not each work it out anew; those are in memory all the while. */
const recent = new LRUCache<string, string>({ max: 64, memoMethod: (secret) => hashSha256Hex(secret) });

/** By what a secret is known where it must not be kept: its SHA-256 in hexadecimal. */
export function computeSecretFingerprint(secret: string): string {
  return recent.memo(secret);
}
