import { LRUCache } from "lru-cache";
import type { RecordReader } from "../../pipeline/record-source.ts";

type Batches = readonly (readonly Readonly<Record<string, unknown>>[])[];

interface CachedList {
  readonly batches: Batches;
  readonly isComplete: boolean;
}

export const listCacheSeconds = 60;
export const listCacheChars = 64 * 2 ** 20;

/** Lists of a remote service that were read a short time ago, by caller and filter. */
export type ListCache = LRUCache<string, CachedList>;

export function createListCache(): ListCache {
  return new LRUCache({
    ttl: listCacheSeconds * 1000,
    maxSize: listCacheChars,
    sizeCalculation: ({ batches }) => Math.max(1, JSON.stringify(batches).length),
  });
}

/**
 * Wraps a reader so that lists of several pages are read from the cache. A list of one page is read again: it costs one
 * request, and shows that the service still accepts the token.
 */
export function withListCache(reader: RecordReader, cache: ListCache, caller: string): RecordReader {
  return {
    ...reader,
    async *list(name, filter, fields) {
      const key = JSON.stringify([caller, name, filter, fields]);
      const cached = cache.get(key);
      if (cached) {
        yield* cached.batches;
        return cached.isComplete;
      }
      const batches = [];
      const reading = reader.list(name, filter, fields);
      for (;;) {
        const { value, done } = await reading.next();
        if (done) {
          if (batches.length > 1) cache.set(key, { batches, isComplete: value });
          return value;
        }
        batches.push(value);
        yield value;
      }
    },
  };
}
