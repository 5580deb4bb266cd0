import { monotonicFactory, ulid } from "ulid";
import type { Random } from "./random.ts";

const nextUlid = monotonicFactory();

/**
 * A new id: `prefix_` and a ULID. Ids of one process ascend strictly, within a millisecond too and when the clock
 * steps back. `timeMs` defaults to the present.
 */
export function newId(prefix: string, timeMs?: number): string {
  return `${prefix}_${nextUlid(timeMs)}`;
}

/** Makes ids that come out the same for the same random numbers and times: for demo data. */
export function seededIds(random: Random): (prefix: string, timeMs: number) => string {
  return (prefix, timeMs) => `${prefix}_${ulid(timeMs, random)}`;
}
