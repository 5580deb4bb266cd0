/** Counts the requests of each client within a minute. */
export interface MinuteCounter {
  /**
   * Counts requests of a client. Returns false if they exceed the limit, or if too many clients are counted already.
   * @param times - negative to take requests back
   */
  count(client: string, times?: number): boolean;
}

/** @param maxCounted - clients counted in one minute */
export function createMinuteCounter(perMinute: number, maxCounted: number): MinuteCounter {
  const counts = new Map<string, number>();
  let minute = 0;
  return {
    count(client, times = 1) {
      const current = Math.floor(performance.now() / 60_000);
      if (current !== minute) counts.clear();
      minute = current;
      const before = counts.get(client);
      if (before === undefined && counts.size >= maxCounted) return false;
      const count = Math.max(0, (before ?? 0) + times);
      if (count > perMinute) return false;
      counts.set(client, count);
      return true;
    },
  };
}

/** Returns the seconds until all counts start again at zero. */
export function getSecondsToNextMinute(): number {
  return 60 - (Math.floor(performance.now() / 1000) % 60);
}
