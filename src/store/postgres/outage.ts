import type { Log } from "../../lib/log.ts";

/** Logs once when a database cannot be reached, and once when it can be reached again. */
export interface Outage {
  /** @param pool - the pool whose connections fail */
  noticed(pool: object, error: unknown): void;
  ended(pool: object): void;
}

export function createOutage(log: Log | undefined): Outage {
  const troubled = new Set<object>();
  return {
    noticed(pool, error) {
      if (troubled.size === 0) log?.error({ err: error }, "The database cannot be reached");
      troubled.add(pool);
    },
    ended(pool) {
      if (troubled.delete(pool) && troubled.size === 0) log?.info("The database is reached again");
    },
  };
}
