import { LRUCache } from "lru-cache";
import { problem } from "../../contract/errors.ts";
import type { Clock } from "../../lib/clock.ts";
import { computeSecretFingerprint } from "../../lib/crypto/fingerprint.ts";

type Headers = Readonly<Record<string, string | undefined>>;

/** Keeps each token within the service's limits, so that its calls are spaced here instead of refused there. */
export interface RateThrottle {
  /**
   * Takes the token's next turn.
   * @returns milliseconds until that turn
   * @throws Problem `rate_limited` where it is too far off to wait for; then no turn is taken
   */
  take(token: string): number;
  /** What a response's headers say of the token's rate. */
  learn(token: string, headers: Headers): void;
  /** The service refused a call of the token for so long. */
  refused(token: string, retryAfterSeconds: number): void;
  /** @throws Problem `export_rate_limited` while the token may not create another export */
  checkExport(token: string): void;
  /** The token created an export, or was refused one for so long. */
  exported(token: string, retryAfterSeconds?: number): void;
  /** What is known of the token's rate. */
  remaining(token: string): { readonly limit: number; readonly remaining: number };
}

const windowMs = 60_000;
/** How long a call waits for its turn; longer, and its caller is told when to come again. */
export const maxWaitMs = 10_000;
export const maxThrottledTokens = 10_000;

interface Lane {
  readonly turns: SlidingWindow;
  limit: number;
  blockedUntilMs: number;
  exportFromMs: number;
}

/**
 * @param requestsPerMinute - the most that one token may do here; what the service says can only be less
 */
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
    // Turns and blocks further off than any that are given come from a clock that was set back.
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
      // A hint delays the next call; only a refusal turns calls away.
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

/** When turns are, in order: those of the last minute, and of the seconds to come. */
interface SlidingWindow {
  readonly count: number;
  /** Of none, long ago. */
  readonly lastMs: number;
  /** When the turn was that came so many from the end; of none, long ago. */
  fromLastMs(places: number): number;
  add(atMs: number): void;
  /** Forgets those until then. */
  forget(untilMs: number): void;
}

/** In pieces: those that are forgotten go without the others having to be moved. */
const pieceLength = 128;

function createTurns(): SlidingWindow {
  const pieces: number[][] = [[]];
  /** Where in the first piece those begin that are not forgotten. */
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

/** Requests a minute, from `RateLimit-Policy: "default";q=300;w=60` of the IETF draft or the older header. */
function parseLimit(headers: Headers): number | undefined {
  const policy = headers["ratelimit-policy"];
  const windowSeconds = parseHeaderNumber(policy, parameters.w);
  const limit = parseHeaderNumber(policy, parameters.q) ?? parseWholeNumber(headers["x-ratelimit-limit"]);
  const ofMinute = windowSeconds === undefined || windowSeconds === 60;
  return limit !== undefined && limit > 0 && ofMinute ? limit : undefined;
}

/** What is left, from `RateLimit: "default";r=12;t=30` of the IETF draft or the older header. */
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
