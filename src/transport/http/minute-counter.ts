/** Counts what each of many does within a minute, so that none does more than its share. */
export interface MinuteCounter {
  /** Counts what somebody does; false where that is more than may be, or somebody too many is counted already. */
  count(who: string, times?: number): boolean;
}

/** @param maxCounted - how many are told apart in a minute */
export function createMinuteCounter(perMinute: number, maxCounted: number): MinuteCounter {
  const counts = new Map<string, number>();
  let minute = 0;
  return {
    count(who, times = 1) {
      const current = Math.floor(performance.now() / 60_000);
      if (current !== minute) counts.clear();
      minute = current;
      const before = counts.get(who);
      if (before === undefined && counts.size >= maxCounted) return false;
      const count = (before ?? 0) + times;
      if (count > perMinute) return false;
      counts.set(who, count);
      return true;
    },
  };
}

/** Seconds until counts begin anew. */
export function getSecondsToNextMinute(): number {
  return 60 - (Math.floor(performance.now() / 1000) % 60);
}
