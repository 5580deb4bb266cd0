import type { DeliveryError } from "../contract/webhooks.ts";
import type { Random } from "../lib/crypto/random.ts";
import type { DeliveryOutcome } from "../store/queues/outbox.ts";

const [seconds, minutes, hours] = [1_000, 60_000, 3_600_000];

/** The delay after each failed attempt. The attempt after the last delay is the last one. */
export const webhookRetryDelaysMs: readonly number[] = [
  5 * seconds,
  5 * minutes,
  30 * minutes,
  2 * hours,
  5 * hours,
  10 * hours,
  14 * hours,
  20 * hours,
  24 * hours,
];

/** The share by which a delay varies, so that concurrent failures are not retried together. */
export const jitter = 0.2;

/** The maximum wait that a receiver may ask for. */
export const maxRetryAfterMs = 24 * hours;

/** The time after which an endpoint with failures only is disabled. */
export const giveUpAfterMs = 120 * hours;

/** The result of one attempt. */
export interface Attempt {
  readonly statusCode: number | null;
  readonly error: DeliveryError | null;
  /** The beginning of the response body. */
  readonly answer: string | null;
  /** The header `Retry-After` of a response with status 429 or 503. */
  readonly retryAfter?: string | undefined;
  readonly durationMs: number;
}

/**
 * Plans what follows an attempt: success, another attempt or failure. A wait that the receiver asks for can only extend
 * the delay, and applies to all deliveries to it.
 * @param attempts - the number of attempts, including this one
 */
export function planNextAttempt(
  { error, statusCode, retryAfter }: Attempt,
  attempts: number,
  nowMs: number,
  random: Random,
): Pick<DeliveryOutcome, "next" | "pauseUntil"> {
  if (error === null) return { next: { status: "delivered" } };
  const delayMs = webhookRetryDelaysMs[attempts - 1];
  const getTime = (ms: number) => new Date(nowMs + ms).toISOString();
  const askedMs = Math.min(parseRetryAfterMs(retryAfter, nowMs), maxRetryAfterMs);
  const pause = askedMs > 0 ? { pauseUntil: getTime(askedMs) } : {};
  if (delayMs === undefined || statusCode === 410) return { next: { status: "failed" }, ...pause };
  const jitteredMs = delayMs * (1 + jitter * (2 * random() - 1));
  return { next: { status: "pending", dueAt: getTime(Math.max(jitteredMs, askedMs)) }, ...pause };
}

/** Parses `Retry-After`: seconds or a date (RFC 9110, 10.2.3). Returns 0 for anything else. */
function parseRetryAfterMs(value: string | undefined, nowMs: number): number {
  if (value === undefined) return 0;
  if (/^\d{1,9}$/.test(value)) return Number(value) * seconds;
  const atMs = /[a-z]/i.test(value) ? Date.parse(value) : Number.NaN;
  return Number.isFinite(atMs) ? Math.max(0, atMs - nowMs) : 0;
}
