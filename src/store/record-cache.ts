/**
 * Caches reads until the next commit of any process, detected by `revision`, which costs less to read than a row.
 * Without a revision nothing is cached.
 * @param max - number of cached values
 * @param lasting - returns whether a value may be cached
 */
export function createRecordCache<V>(
  revision: (() => Promise<unknown>) | undefined,
  max: number,
  lasting: (value: V) => boolean,
): (key: string, read: () => Promise<V>) => Promise<V> {
  const known = new Map<string, V>();
  let seen: unknown;

  return async (key, read) => {
    if (!revision) return read();
    const current = await revision();
    if (current !== seen) {
      known.clear();
      seen = current;
    }
    if (known.has(key)) return known.get(key) as V;
    const value = await read();
    // The value may have been read before a commit that `current` already includes.
    if (current === seen && known.size < max && lasting(value)) known.set(key, value);
    return value;
  };
}
