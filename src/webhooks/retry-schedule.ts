import type { DeliveryError } from "../contract/webhooks.ts";
import type { Random } from "../lib/crypto/random.ts";
import type { DeliveryOutcome } from "../store/queues/outbox.ts";

const [seconds, minutes, hours] = [1_000, 60_000, 3_600_000];

/** How long after each failed attempt the next one follows; after one more failure there is none. */
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

/** A delay varies by this share, so that what failed together does not come back together. */
export const jitter = 0.2;

/** A receiver may ask for no longer wait than this. */
export const maxRetryAfterMs = 24 * hours;

/** An endpoint of which nothing has been heard but failure for this long is disabled. */
export const giveUpAfterMs = 120 * hours;

/** What came of one attempt. */
export interface Attempt {
  readonly statusCode: number | null;
  readonly error: DeliveryError | null;
  /** The beginning of what was answered. */
  readonly answer: string | null;
  /** The header `Retry-After`, where the answer was 429 or 503. */
  readonly retryAfter?: string | undefined;
  readonly durationMs: number;
}

/**
 * What follows an attempt: done, another one later, or none. A wait that the receiver asks for can only be longer than
 * the schedule's, and holds for all that waits for it.
 * @param attempts - attempts made, this one included
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
  const askedMs = Math.min(retryAfterMs(retryAfter, nowMs), maxRetryAfterMs);
  const pause = askedMs > 0 ? { pauseUntil: getTime(askedMs) } : {};
  if (delayMs === undefined || statusCode === 410) return { next: { status: "failed" }, ...pause };
  const jitteredMs = delayMs * (1 + jitter * (2 * random() - 1));
  return { next: { status: "pending", dueAt: getTime(Math.max(jitteredMs, askedMs)) }, ...pause };
}

/** `Retry-After` is seconds or a date (RFC 9110, 10.2.3); anything else asks for no wait. */
function retryAfterMs(value: string | undefined, nowMs: number): number {
  if (value === undefined) return 0;
  if (/^\d{1,9}$/.test(value)) return Number(value) * seconds;
  const atMs = /[a-z]/i.test(value) ? Date.parse(value) : Number.NaN;
  return Number.isFinite(atMs) ? Math.max(0, atMs - nowMs) : 0;
}
