/** Reads the values of several keys by one query; a key without value is absent. */
export type ReadBatch<V> = (keys: readonly string[]) => Promise<ReadonlyMap<string, V>>;

export interface BatchLimits {
  /** Keys that one query reads. */
  readonly maxKeys: number;
  /** Queries at once. */
  readonly maxQueries: number;
}

interface Wanted<V> {
  readonly key: string;
  readonly result: PromiseWithResolvers<V | undefined>;
}

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

  async function readWaiting(): Promise<void> {
    queries += 1;
    while (waiting.length > 0) {
      const batch = waiting.splice(0, maxKeys);
      try {
        const values = await readBatch(batch.map(({ key }) => key));
        for (const { key, result } of batch) result.resolve(values.get(key));
      } catch (error) {
        for (const { result } of batch) result.reject(error);
      }
    }
    queries -= 1;
  }

  return (key) => {
    const result = Promise.withResolvers<V | undefined>();
    waiting.push({ key, result });
    if (queries < maxQueries) void readWaiting();
    return result.promise;
  };
}
