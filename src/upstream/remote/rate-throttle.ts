import { LRUCache } from "lru-cache";
import { problem } from "../../contract/errors.ts";
import type { Clock } from "../../lib/clock.ts";
import { computeSecretFingerprint } from "../../lib/crypto/fingerprint.ts";

type Headers = Readonly<Record<string, string | undefined>>;

/** Spaces the calls of each token to stay within the service's limits. */
export interface RateThrottle {
  /**
   * Reserves the token's next slot.
   * @returns milliseconds until that slot
   * @throws Problem `rate_limited` when the wait would be too long; then no slot is reserved
   */
  take(token: string): number;
  /** Learns the token's rate from the headers of a response. */
  learn(token: string, headers: Headers): void;
  /** Records that the service refused a call of the token for this time. */
  refused(token: string, retryAfterSeconds: number): void;
  /**
   * Checks that the token may create an export now.
   * @throws Problem `export_rate_limited`
   */
  checkExport(token: string): void;
  /** Records that the token created an export, or was refused one for this time. */
  exported(token: string, retryAfterSeconds?: number): void;
  /** Returns the token's known rate. */
  remaining(token: string): { readonly limit: number; readonly remaining: number };
}

const windowMs = 60_000;
/** The longest wait for a slot. A call that would wait longer fails with the time to retry. */
export const maxWaitMs = 10_000;
export const maxThrottledTokens = 10_000;

interface Lane {
  readonly turns: SlidingWindow;
  limit: number;
  blockedUntilMs: number;
  exportFromMs: number;
}

/** @param requestsPerMinute - upper limit for one token; the service may lower it */
export function createRateThrottle(
  clock: Clock,
  requestsPerMinute: number,
  exportIntervalSeconds: number,
): RateThrottle {
  const lanes = new LRUCache<string, Lane>({ max: maxThrottledTokens });
  const getNowMs = () => clock.now().getTime();

  function getLane(token: string, now = getNowMs()): Lane {
    const key = computeSecretFingerprint(token);
    let lane = lanes.get(key);
    if (!lane) {
      lane = { turns: createTurns(), limit: requestsPerMinute, blockedUntilMs: 0, exportFromMs: 0 };
      lanes.set(key, lane);
    }
    lane.turns.forget(now - windowMs);
    // Slots and blocks beyond the longest wait mean that the clock was set back.
    if (lane.turns.lastMs > now + maxWaitMs) lane.turns.forget(Number.POSITIVE_INFINITY);
    if (lane.blockedUntilMs > now + windowMs) lane.blockedUntilMs = 0;
    return lane;
  }

  function blockLane(lane: Lane, seconds: number, maxMs: number): void {
    lane.blockedUntilMs = Math.max(lane.blockedUntilMs, getNowMs() + Math.min(seconds * 1000, maxMs));
  }

  return {
    take(token) {
      const now = getNowMs();
      const { turns, limit, blockedUntilMs } = getLane(token, now);
      const atMs = Math.max(now, blockedUntilMs, turns.fromLastMs(limit) + windowMs, turns.lastMs);
      const waitMs = atMs - now;
      if (waitMs > maxWaitMs) throw problem("rate_limited", { retryAfterSeconds: Math.ceil(waitMs / 1000) });
      turns.add(atMs);
      return waitMs;
    },

    learn(token, headers) {
      const limit = parseLimit(headers);
      const { left, resetSeconds } = parseRemaining(headers);
      if (limit === undefined && left === undefined) return;
      const lane = getLane(token);
      if (limit !== undefined) lane.limit = Math.min(limit, requestsPerMinute);
      // A hint only delays the next call. Only a refusal rejects calls.
      if (left === 0 && lane.turns.count < lane.limit) blockLane(lane, resetSeconds ?? 1, maxWaitMs);
    },

    refused: (token, retryAfterSeconds) => blockLane(getLane(token), retryAfterSeconds, windowMs),

    checkExport(token) {
      const retryAfterSeconds = Math.ceil((getLane(token).exportFromMs - getNowMs()) / 1000);
      if (retryAfterSeconds > 0) throw problem("export_rate_limited", { retryAfterSeconds });
    },

    exported(token, retryAfterSeconds = exportIntervalSeconds) {
      getLane(token).exportFromMs = getNowMs() + Math.min(retryAfterSeconds, exportIntervalSeconds) * 1000;
    },

    remaining(token) {
      const { turns, limit } = getLane(token);
      return { limit, remaining: Math.max(0, limit - turns.count) };
    },
  };
}

/** The times of slots, in order: those of the last minute and of the next seconds. */
interface SlidingWindow {
  readonly count: number;
  /** The last slot; long ago if there is none. */
  readonly lastMs: number;
  /** The slot at this position from the end; long ago if there is none. */
  fromLastMs(places: number): number;
  add(atMs: number): void;
  /** Removes the slots until a time. */
  forget(untilMs: number): void;
}

/** Stored in chunks, so that old slots can be removed without moving the others. */
const pieceLength = 128;

function createTurns(): SlidingWindow {
  const pieces: number[][] = [[]];
  /** Index of the first remaining slot in the first chunk. */
  let first = 0;
  let count = 0;
  const getSlotTime = (index: number) => pieces[Math.floor(index / pieceLength)]?.[index % pieceLength] ?? 0;
  return {
    get count() {
      return count;
    },
    get lastMs() {
      return this.fromLastMs(1);
    },
    fromLastMs: (places) => (places > count ? Number.NEGATIVE_INFINITY : getSlotTime(first + count - places)),
    add(atMs) {
      if (pieces.at(-1)?.length === pieceLength) pieces.push([]);
      pieces.at(-1)?.push(atMs);
      count += 1;
    },
    forget(untilMs) {
      while (count > 0 && getSlotTime(first) <= untilMs) {
        first += 1;
        count -= 1;
        if (first < pieceLength) continue;
        pieces.shift();
        if (count === 0) pieces.push([]);
        first = 0;
      }
    },
  };
}

/**
 * Parses requests per minute from `RateLimit-Policy: "default";q=300;w=60` of the IETF draft, or from the older
 * header.
 */
function parseLimit(headers: Headers): number | undefined {
  const policy = headers["ratelimit-policy"];
  const windowSeconds = parseHeaderNumber(policy, parameters.w);
  const limit = parseHeaderNumber(policy, parameters.q) ?? parseWholeNumber(headers["x-ratelimit-limit"]);
  const ofMinute = windowSeconds === undefined || windowSeconds === 60;
  return limit !== undefined && limit > 0 && ofMinute ? limit : undefined;
}

/** Parses the remaining requests from `RateLimit: "default";r=12;t=30` of the IETF draft, or from the older header. */
function parseRemaining(headers: Headers) {
  const rate = headers["ratelimit"];
  const left = parseHeaderNumber(rate, parameters.r) ?? parseWholeNumber(headers["x-ratelimit-remaining"]);
  return { left, resetSeconds: parseHeaderNumber(rate, parameters.t) };
}

const parameters = { q: /;\s*q=(\d{1,9})/, w: /;\s*w=(\d{1,9})/, r: /;\s*r=(\d{1,9})/, t: /;\s*t=(\d{1,9})/ };

function parseHeaderNumber(header: string | undefined, parameter: RegExp): number | undefined {
  return header === undefined ? undefined : parseWholeNumber(parameter.exec(header)?.[1]);
}

function parseWholeNumber(text: string | undefined): number | undefined {
  return text !== undefined && /^\d{1,9}$/.test(text) ? Number(text) : undefined;
}
