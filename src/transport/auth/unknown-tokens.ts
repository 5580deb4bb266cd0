import type { IncomingMessage } from "node:http";
import { LRUCache } from "lru-cache";
import { problem } from "../../contract/errors.ts";
import { computeSecretFingerprint } from "../../lib/crypto/fingerprint.ts";
import { getClientAddress } from "../http/client-address.ts";
import { createMinuteCounter, getSecondsToNextMinute } from "../http/minute-counter.ts";

/** Requests a minute from one address with tokens that have never been valid. */
export const maxUnknownPerMinute = 1_000;
const maxAddresses = 10_000;
/** Valid tokens that are remembered. */
const maxKnown = 10_000;

/**
 * Limits how many unknown tokens are looked up in the store, at the issuer or by the product's service. Tokens that were
 * valid before are never limited: behind a proxy, all callers share its address.
 */
export interface UnknownTokens {
  /** @throws Problem `rate_limited` if the request's address has sent too many unknown tokens */
  check(request: IncomingMessage, token: string | undefined): void;
  /** Records whether a request's token was valid. A valid token's first request does not count against its address. */
  learn(request: IncomingMessage, token: string | undefined, isValid: boolean): void;
}

export function createUnknownTokens(): UnknownTokens {
  const known = new LRUCache<string, true>({ max: maxKnown });
  const counter = createMinuteCounter(maxUnknownPerMinute, maxAddresses);
  return {
    check({ socket }, token) {
      if (token !== undefined && known.has(computeSecretFingerprint(token))) return;
      if (counter.count(getClientAddress(socket.remoteAddress))) return;
      const message = "Too many requests with unknown tokens came from this address.";
      throw problem("rate_limited", { retryAfterSeconds: getSecondsToNextMinute() }, message);
    },
    learn({ socket }, token, isValid) {
      if (token === undefined) return;
      const fingerprint = computeSecretFingerprint(token);
      if (!isValid) return void known.delete(fingerprint);
      if (!known.has(fingerprint)) counter.count(getClientAddress(socket.remoteAddress), -1);
      known.set(fingerprint, true);
    },
  };
}
