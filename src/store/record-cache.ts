/**
 * Remembers what is read while `revision` stays the same, that is until the next commit of whichever process: to ask
 * for it costs less than to read a row. Where there is no such revision everything is read each time.
 *
 * @param max - remembered at once
 * @param lasting - whether a value may be remembered
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
    // Read before a commit that somebody else has seen by now, it would be remembered as if from after it.
    if (current === seen && known.size < max && lasting(value)) known.set(key, value);
    return value;
  };
}
