import type { Clock } from "../lib/clock.ts";
import type { Log } from "../lib/log.ts";
import { createLoop, type Worker } from "../lib/worker.ts";
import { type ExpiringRows, expiringRows, type Store } from "../store/port.ts";

export interface RetentionDeps {
  readonly store: Store;
  readonly clock: Clock;
  readonly log: Log;
  /** The retention period of each kind of rows, in days. */
  readonly keptDays: Readonly<Record<ExpiringRows, number>>;
  /** Files with a retention period. */
  readonly files: readonly ExpiringFiles[];
}

/** A folder of files with a retention period. */
export interface ExpiringFiles {
  readonly keptDays: number;
  /** Deletes the files from before a time until the signal aborts. @returns the number of deleted files */
  sweep(before: Date, signal?: AbortSignal): Promise<number>;
}

export interface Retention extends Worker {
  /** Deletes what has expired, without starting the loop. @returns the number of deleted rows and files */
  sweep(): Promise<number>;
}

const intervalMs = 600_000;
/** Small, because other writers wait for each batch. */
const batchRows = 200;
/** Rows of each kind of people's sessions and links; the rest follows with the next sweep. */
const maxExpiredRows = 1_000;
/** The time for which an app stays registered that no one connects. */
const unusedClientDays = 1;
const dayMs = 86_400_000;

/** Deletes rows and files after their retention period, a batch at a time. */
export function createRetention({ store, clock, log, keptDays, files }: RetentionDeps): Retention {
  const subtractDays = (days: number) => new Date(clock.now().getTime() - days * dayMs);

  async function sweepKind(businessId: string, kind: ExpiringRows, signal?: AbortSignal): Promise<number> {
    const before = subtractDays(keptDays[kind]).toISOString();
    let deleted = 0;
    for (let batch = batchRows; batch === batchRows && !signal?.aborted; deleted += batch) {
      batch = await store.deleteOldRows(businessId, kind, before, batchRows);
    }
    return deleted;
  }

  async function sweep(signal?: AbortSignal): Promise<number> {
    let deleted = 0;
    for (const { businessId } of await store.listBusinesses()) {
      for (const kind of expiringRows) deleted += await sweepKind(businessId, kind, signal);
    }
    deleted += await store.users.sweep(clock.now().toISOString(), maxExpiredRows);
    deleted += await store.apps.endExpired(clock.now().toISOString());
    deleted += await store.apps.sweepClients(subtractDays(unusedClientDays).toISOString(), maxExpiredRows);
    // A folder that cannot be read must not keep the others from being swept.
    const swept = files.map(({ keptDays, sweep }) => sweep(subtractDays(keptDays), signal));
    for (const result of await Promise.allSettled(swept)) {
      if (result.status === "rejected") throw result.reason;
      deleted += result.value;
    }
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
