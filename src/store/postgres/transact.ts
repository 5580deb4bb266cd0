import { retry } from "../../lib/retry.ts";
import { type Db, holdConnection } from "../database.ts";
import type { Transact, TransactSerially } from "../engine.ts";
import { createTenantQueues } from "../tenant-queue.ts";
import { prepareCommitSequence } from "../tenant-sequence.ts";
import { isRepeatable, lostTimeoutMs, retryPauses } from "./faults.ts";

/** Creates a function that runs transactions, and runs them again when the database aborts them. */
export function createTransact(db: Db, busyTimeoutMs: number): Transact {
  function runOnce<R>(work: (db: Db) => Promise<R>): Promise<R> {
    return db.transaction().execute(async (transaction) => {
      const release = await holdConnection(transaction);
      try {
        return await work(transaction);
      } finally {
        release();
      }
    });
  }

  function getLimitMs(error: unknown): number {
    if (!isRepeatable(error)) return 0;
    return error.fault === "conflict" ? busyTimeoutMs : Math.min(lostTimeoutMs, busyTimeoutMs);
  }

  return (work) => retry(() => runOnce(work), { ...retryPauses, getLimitMs });
}

/**
 * Creates a function that runs a tenant's transactions one after the other. In this process they queue without a
 * connection; processes queue for a row.
 */
export function createTransactSerially(db: Db, transact: Transact, busyTimeoutMs: number): TransactSerially {
  const takeCommitNumber = prepareCommitSequence(db);
  const runInTurn = createTenantQueues(busyTimeoutMs);

  return (businessId, work) =>
    runInTurn(businessId, () =>
      transact(async (transaction) => work(transaction, await takeCommitNumber(transaction, businessId))),
    );
}
