/** Reads the values of several keys by one query; a key without value is absent. */
export type ReadBatch<V> = (keys: readonly string[]) => Promise<ReadonlyMap<string, V>>;

export interface BatchLimits {
  /** Keys that one query reads. */
  readonly maxKeys: number;
  /** Queries at once, besides slow ones. */
  readonly maxQueries: number;
}

interface Wanted<V> {
  readonly key: string;
  readonly result: PromiseWithResolvers<V | undefined>;
}

/** A query that takes longer may wait for a lost connection, and others no longer wait for it. */
const slowQueryMs = 250;

/**
 * Creates a reader that gathers keys while queries are on their way, so many callers at once make few queries. The query
 * of a key starts after the key was asked for.
 */
export function createBatchReader<V>(
  readBatch: ReadBatch<V>,
  { maxKeys, maxQueries }: BatchLimits,
): (key: string) => Promise<V | undefined> {
  const waiting: Wanted<V>[] = [];
  let queries = 0;

  function startNext(): void {
    if (waiting.length === 0 || queries >= maxQueries) return;
    queries += 1;
    let isAwaited = true;
    const goOn = () => {
      clearTimeout(timer);
      if (!isAwaited) return;
      isAwaited = false;
      queries -= 1;
      startNext();
    };
    const timer = setTimeout(goOn, slowQueryMs);
    void answer(waiting.splice(0, maxKeys)).then(goOn);
  }

  async function answer(batch: readonly Wanted<V>[]): Promise<void> {
    try {
      const values = await readBatch(batch.map(({ key }) => key));
      for (const { key, result } of batch) result.resolve(values.get(key));
    } catch (error) {
      for (const { result } of batch) result.reject(error);
    }
  }

  return (key) => {
    const result = Promise.withResolvers<V | undefined>();
    waiting.push({ key, result });
    startNext();
    return result.promise;
  };
}
