import type { Clock } from "../lib/clock.ts";
import type { Log } from "../lib/log.ts";
import { createLoop, type Worker } from "../lib/worker.ts";
import { type ExpiringRows, passing, type Store } from "../store/port.ts";

export interface RetentionDeps {
  readonly store: Store;
  readonly clock: Clock;
  readonly log: Log;
  /** How many days each kind is kept. */
  readonly keptDays: Readonly<Record<ExpiringRows, number>>;
  /** What is kept in files for a time only. */
  readonly files: readonly PassingFiles[];
}

export interface PassingFiles {
  readonly keptDays: number;
  /** Deletes what is from before a moment, bit by bit, unless the signal says that the end has come; how many it was. */
  sweep(before: Date, signal?: AbortSignal): Promise<number>;
}

export interface Retention extends Worker {
  /** Deletes, without starting, all that is old now; how many rows and files it was. */
  sweep(): Promise<number>;
}

const intervalMs = 600_000;
/** Small enough to hold up nobody who wants to write. */
const batchRows = 200;
const dayMs = 86_400_000;

/** Deletes what is kept for a time only, a batch at a time. */
export function createRetention({ store, clock, log, keptDays, files }: RetentionDeps): Retention {
  const subtractDays = (days: number) => new Date(clock.now().getTime() - days * dayMs);

  async function sweepKind(businessId: string, kind: ExpiringRows, signal?: AbortSignal): Promise<number> {
    const before = subtractDays(keptDays[kind]).toISOString();
    let deleted = 0;
    for (let batch = batchRows; batch === batchRows && !signal?.aborted; deleted += batch) {
      batch = await store.forget(businessId, kind, before, batchRows);
    }
    return deleted;
  }

  async function sweep(signal?: AbortSignal): Promise<number> {
    let deleted = 0;
    for (const { businessId } of await store.listBusinesses()) {
      for (const kind of passing) deleted += await sweepKind(businessId, kind, signal);
    }
    for (const kept of files) deleted += await kept.sweep(subtractDays(kept.keptDays), signal);
    return deleted;
  }

  const loop = createLoop({
    async step(signal) {
      const deleted = await sweep(signal);
      if (deleted > 0) log.debug({ deleted }, "Old rows and files were deleted");
      return false;
    },
    idleMs: intervalMs,
    failed: (error) => log.error({ err: error }, "Old rows or files could not be deleted"),
  });

  return { ...loop, sweep: () => sweep() };
}
