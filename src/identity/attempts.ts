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
  /** Counts an attempt like `count`, until it succeeds. */
  begin(kind: AttemptKind, subject: string): Promise<BegunAttempt>;
}

export type BegunAttempt =
  | { readonly retryAfterSeconds: number }
  | {
      readonly retryAfterSeconds?: undefined;
      /** Removes the attempt from the count. */
      forget(): Promise<void>;
    };

export function createAttemptLimiter(store: Pick<Store, "leasePermits">, clock: Clock): AttemptLimiter {
  async function begin(kind: AttemptKind, subject: string): Promise<BegunAttempt> {
    const nowMs = clock.now().getTime();
    const request = {
      tokenId: `${signInAttemptPrefix}${kind}:${hashSha256Hex(subject)}`,
      limit: maxAttempts[kind],
      windowMs: attemptWindowMinutes * 60_000,
      leaseMs: 0,
      nowMs,
    };
    const { lease, retryAtMs } = await store.leasePermits({ ...request, chunk: 1, settle: [] });
    if (!lease) return { retryAfterSeconds: Math.max(1, Math.ceil((retryAtMs - nowMs) / 1000)) };
    return {
      async forget() {
        await store.leasePermits({ ...request, chunk: 0, settle: [{ leaseId: lease.leaseId, usedAtMs: [] }] });
      },
    };
  }
  return { begin, count: async (kind, subject) => (await begin(kind, subject)).retryAfterSeconds };
}
