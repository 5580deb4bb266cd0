import type { Clock } from "../lib/clock.ts";
import { hashSha256Hex } from "../lib/crypto/crypto.ts";
import { signInAttemptPrefix } from "../store/people/user-store.ts";
import type { Store } from "../store/port.ts";
import { attemptWindowMinutes, maxAttempts } from "./limits.ts";

export type AttemptKind = keyof typeof maxAttempts;

/** Counts attempts in the database, so that all processes share the limit. */
export interface AttemptLimiter {
  /** Counts an attempt. Returns the seconds to wait if there were too many, whether or not the account exists. */
  count(kind: AttemptKind, subject: string): Promise<number | undefined>;
}

export function createAttemptLimiter(store: Pick<Store, "leasePermits">, clock: Clock): AttemptLimiter {
  return {
    async count(kind, subject) {
      const nowMs = clock.now().getTime();
      const { lease, retryAtMs } = await store.leasePermits({
        tokenId: `${signInAttemptPrefix}${kind}:${hashSha256Hex(subject)}`,
        limit: maxAttempts[kind],
        windowMs: attemptWindowMinutes * 60_000,
        chunk: 1,
        leaseMs: 0,
        nowMs,
      });
      return lease ? undefined : Math.max(1, Math.ceil((retryAtMs - nowMs) / 1000));
    },
  };
}
