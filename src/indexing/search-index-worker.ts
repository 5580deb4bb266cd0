import { setTimeout as delay } from "node:timers/promises";
import type { Log } from "../lib/log.ts";
import { createLoop, type Worker } from "../lib/worker.ts";
import type { Store } from "../store/port.ts";

/** Until the index has them, a search reads changed records themselves, so the pause only bounds how many there are. */
const intervalMs = 5_000;
/** Small, because other writers wait for each batch. */
const batchRows = 50;

/** Adds changed records to the search index, a batch at a time. */
export function createSearchIndexWorker({ store, log }: { readonly store: Store; readonly log: Log }): Worker {
  return createLoop({
    async step(signal) {
      const startMs = performance.now();
      const mayHaveMore = await store.indexRows(batchRows);
      // Leaves other work half of the time while a large database is indexed for the first time.
      if (mayHaveMore) await delay(performance.now() - startMs, undefined, { signal }).catch(() => undefined);
      return mayHaveMore;
    },
    idleMs: intervalMs,
    failed: (error) => log.error({ err: error }, "Changed records could not be added to the search index"),
  });
}
