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
  recordRefusal(token: string, retryAfterSeconds: number): void;
  /**
   * Checks that the token may create an export now.
   * @throws Problem `export_rate_limited`
   */
  checkExport(token: string): void;
  /** Records that the token created an export, or was refused one for this time. */
  recordExport(token: string, retryAfterSeconds?: number): void;
  /** Returns the token's known rate. */
  getRate(token: string): { readonly limit: number; readonly remaining: number };
}

const windowMs = 60_000;
/** The longest wait for a slot. A call that would wait longer fails with the time to retry. */
export const maxWaitMs = 10_000;
export const maxThrottledTokens = 10_000;

interface TokenSchedule {
  readonly slots: SlidingWindow;
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
  const schedules = new LRUCache<string, TokenSchedule>({ max: maxThrottledTokens });
  const getNowMs = () => clock.now().getTime();

  function getSchedule(token: string, now = getNowMs()): TokenSchedule {
    const key = computeSecretFingerprint(token);
    let schedule = schedules.get(key);
    if (!schedule) {
      schedule = { slots: createSlidingWindow(), limit: requestsPerMinute, blockedUntilMs: 0, exportFromMs: 0 };
      schedules.set(key, schedule);
    }
    schedule.slots.deleteUntil(now - windowMs);
    // Slots and blocks beyond the longest wait mean that the clock was set back.
    if (schedule.slots.lastMs > now + maxWaitMs) schedule.slots.deleteUntil(Number.POSITIVE_INFINITY);
    if (schedule.blockedUntilMs > now + windowMs) schedule.blockedUntilMs = 0;
    return schedule;
  }

  function blockToken(schedule: TokenSchedule, seconds: number, maxMs: number): void {
    schedule.blockedUntilMs = Math.max(schedule.blockedUntilMs, getNowMs() + Math.min(seconds * 1000, maxMs));
  }

  return {
    take(token) {
      const now = getNowMs();
      const { slots, limit, blockedUntilMs } = getSchedule(token, now);
      const atMs = Math.max(now, blockedUntilMs, slots.fromLastMs(limit) + windowMs, slots.lastMs);
      const waitMs = atMs - now;
      if (waitMs > maxWaitMs) throw problem("rate_limited", { retryAfterSeconds: Math.ceil(waitMs / 1000) });
      slots.add(atMs);
      return waitMs;
    },

    learn(token, headers) {
      const limit = parseLimit(headers);
      const { left, resetSeconds } = parseRemaining(headers);
      if (limit === undefined && left === undefined) return;
      const schedule = getSchedule(token);
      if (limit !== undefined) schedule.limit = Math.min(limit, requestsPerMinute);
      // A hint only delays the next call. Only a refusal rejects calls.
      if (left === 0 && schedule.slots.count < schedule.limit) blockToken(schedule, resetSeconds ?? 1, maxWaitMs);
    },

    recordRefusal: (token, retryAfterSeconds) => blockToken(getSchedule(token), retryAfterSeconds, windowMs),

    checkExport(token) {
      const retryAfterSeconds = Math.ceil((getSchedule(token).exportFromMs - getNowMs()) / 1000);
      if (retryAfterSeconds > 0) throw problem("export_rate_limited", { retryAfterSeconds });
    },

    recordExport(token, retryAfterSeconds = exportIntervalSeconds) {
      getSchedule(token).exportFromMs = getNowMs() + Math.min(retryAfterSeconds, exportIntervalSeconds) * 1000;
    },

    getRate(token) {
      const { slots, limit } = getSchedule(token);
      return { limit, remaining: Math.max(0, limit - slots.count) };
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
  deleteUntil(untilMs: number): void;
}

function createSlidingWindow(): SlidingWindow {
  let times: number[] = [];
  /** Index of the first slot that is not removed. */
  let first = 0;
  return {
    get count() {
      return times.length - first;
    },
    get lastMs() {
      return this.fromLastMs(1);
    },
    fromLastMs(places) {
      return (places > this.count ? undefined : times.at(-places)) ?? Number.NEGATIVE_INFINITY;
    },
    add: (atMs) => void times.push(atMs),
    deleteUntil(untilMs) {
      while (this.count > 0 && (times[first] as number) <= untilMs) first += 1;
      // Moves the rest only if it is the smaller part, so a slot is moved once on average.
      if (first <= times.length / 2) return;
      times = times.slice(first);
      first = 0;
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
