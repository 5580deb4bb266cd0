import { randomFillSync } from "node:crypto";
import { monotonicFactory, ulid } from "ulid";
import type { Random } from "./crypto/random.ts";

/** Random bytes for many ids, because a request for each id takes longer than the rest of its creation. */
const pool = Buffer.alloc(4096);
let used = pool.length;

function createRandomByte(): number {
  if (used === pool.length) {
    randomFillSync(pool);
    used = 0;
  }
  return pool[used++] as number;
}

const nextUlid = monotonicFactory(() => createRandomByte() / 256);

/**
 * Creates an id: `prefix_` and a ULID. Ids of one process ascend strictly, even within a millisecond and when the
 * clock is set back. `timeMs` defaults to the present.
 */
export function createId(prefix: string, timeMs?: number): string {
  return `${prefix}_${nextUlid(timeMs)}`;
}

/** Creates a generator of ids that are equal for equal random numbers and times, for demonstration data. */
export function createSeededIds(random: Random): (prefix: string, timeMs: number) => string {
  return (prefix, timeMs) => `${prefix}_${ulid(timeMs, random)}`;
}
