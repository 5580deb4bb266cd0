import { randomFillSync } from "node:crypto";
import { monotonicFactory, ulid } from "ulid";
import type { Random } from "./crypto/random.ts";

/** Random bytes for many ids at a time: asking for each of them alone takes longer than the rest of an id. */
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
 * A new id: `prefix_` and a ULID. Ids of one process ascend strictly, within a millisecond too and when the clock
 * steps back. `timeMs` defaults to the present.
 */
export function createId(prefix: string, timeMs?: number): string {
  return `${prefix}_${nextUlid(timeMs)}`;
}

/** Makes ids that come out the same for the same random numbers and times: for demo data. */
export function createSeededIds(random: Random): (prefix: string, timeMs: number) => string {
  return (prefix, timeMs) => `${prefix}_${ulid(timeMs, random)}`;
}
