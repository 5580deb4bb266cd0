import type { IncomingMessage } from "node:http";
import { LRUCache } from "lru-cache";
import { problem } from "../../contract/errors.ts";
import { computeSecretFingerprint } from "../../lib/crypto/fingerprint.ts";
import { getClientAddress } from "../http/client-address.ts";
import { createMinuteCounter, getSecondsToNextMinute } from "../http/minute-counter.ts";

/** Requests a minute from one address whose token was not found good before. */
export const maxUnknownPerMinute = 1_000;
const maxAddresses = 10_000;
/** Tokens found good that are remembered. */
const maxKnown = 10_000;

/**
 * Keeps the store, the issuer and the product's service from being asked about one invented token after the other. Who
 * came with a good token before is never held up: behind a proxy, where all share its address, that is nearly everybody.
 */
export interface UnknownTokens {
  /** @throws Problem `rate_limited` where too many of them came from the request's address */
  check(request: IncomingMessage, token: string | undefined): void;
  /** Learns whether a token was found good. */
  learn(token: string | undefined, isGood: boolean): void;
}

export function createUnknownTokens(perMinute = maxUnknownPerMinute): UnknownTokens {
  const known = new LRUCache<string, true>({ max: maxKnown });
  const counter = createMinuteCounter(perMinute, maxAddresses);
  return {
    check({ socket }, token) {
      if (token !== undefined && known.has(computeSecretFingerprint(token))) return;
      if (counter.count(getClientAddress(socket.remoteAddress))) return;
      const message = "Too many requests without a token that is known here came from this address.";
      throw problem("rate_limited", { retryAfterSeconds: getSecondsToNextMinute() }, message);
    },
    learn(token, isGood) {
      if (token === undefined) return;
      if (isGood) known.set(computeSecretFingerprint(token), true);
      else known.delete(computeSecretFingerprint(token));
    },
  };
}
