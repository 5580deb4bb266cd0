import type { Clock } from "../lib/clock.ts";

/** Keeps a token within the service's limits, so that calls are spaced here instead of refused there. */
export interface Pace {
  /** How long a call of the token has to wait, in milliseconds; 0 takes a place now. */
  waitMs(token: string): number;
  /** What a response's headers say of the token's rate. */
  learn(token: string, headers: Readonly<Record<string, string | undefined>>): void;
  /** Seconds until the token may create an export again; 0 when it may. */
  exportWaitSeconds(token: string): number;
  exportCreated(token: string): void;
  /** What is known of the token's rate. */
  remaining(token: string): { readonly limit: number; readonly remaining: number };
}

const windowMs = 60_000;
const maxTokens = 10_000;

interface Lane {
  /** When the calls of the last minute were made. */
  calls: number[];
  limit: number;
  blockedUntilMs: number;
  lastExportMs: number;
}

export function createPace(clock: Clock, requestsPerMinute: number, exportIntervalSeconds: number): Pace {
  const lanes = new Map<string, Lane>();

  function laneOf(token: string): Lane {
    let lane = lanes.get(token);
    if (!lane) {
      if (lanes.size >= maxTokens) lanes.delete(lanes.keys().next().value as string);
      lane = { calls: [], limit: requestsPerMinute, blockedUntilMs: 0, lastExportMs: Number.NEGATIVE_INFINITY };
      lanes.set(token, lane);
    }
    const since = clock.now().getTime() - windowMs;
    const stale = lane.calls.findIndex((atMs) => atMs > since);
    lane.calls.splice(0, stale < 0 ? lane.calls.length : stale);
    return lane;
  }

  return {
    waitMs(token) {
      const lane = laneOf(token);
      const nowMs = clock.now().getTime();
      if (lane.blockedUntilMs > nowMs) return lane.blockedUntilMs - nowMs;
      const first = lane.calls[lane.calls.length - lane.limit];
      if (first !== undefined) return first + windowMs - nowMs;
      lane.calls.push(nowMs);
      return 0;
    },

    learn(token, headers) {
      const lane = laneOf(token);
      const limit = Number(headers["x-ratelimit-limit"]);
      if (Number.isInteger(limit) && limit > 0) lane.limit = Math.min(limit, 100_000);
      const { remaining, resetSeconds } = draftRate(headers["ratelimit"]);
      const left = remaining ?? wholeNumber(headers["x-ratelimit-remaining"]);
      if (left === 0) lane.blockedUntilMs = clock.now().getTime() + Math.min(resetSeconds ?? 1, 60) * 1000;
    },

    exportWaitSeconds(token) {
      const freeAtMs = laneOf(token).lastExportMs + exportIntervalSeconds * 1000;
      return Math.max(0, Math.ceil((freeAtMs - clock.now().getTime()) / 1000));
    },

    exportCreated(token) {
      laneOf(token).lastExportMs = clock.now().getTime();
    },

    remaining(token) {
      const { calls, limit } = laneOf(token);
      return { limit, remaining: Math.max(0, limit - calls.length) };
    },
  };
}

/** `RateLimit: "default";r=12;t=30` of the IETF draft. */
function draftRate(header: string | undefined): { remaining?: number | undefined; resetSeconds?: number | undefined } {
  if (header === undefined) return {};
  const parameter = (name: string) => wholeNumber(new RegExp(`;\\s*${name}=(\\d{1,9})`).exec(header)?.[1]);
  return { remaining: parameter("r"), resetSeconds: parameter("t") };
}

function wholeNumber(text: string | undefined): number | undefined {
  return text !== undefined && /^\d{1,9}$/.test(text) ? Number(text) : undefined;
}
