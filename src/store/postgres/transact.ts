import { setTimeout as sleep } from "node:timers/promises";
import { type Db, holdConnection } from "../database.ts";
import type { Transact, TransactInTurn } from "../engine.ts";
import { Mutex } from "../mutex.ts";
import { prepareTurn } from "../turns.ts";
import { isRepeatable } from "./faults.ts";

/** How long a transaction is run again while the database cannot be reached. */
const lostTimeoutMs = 2_000;
const [firstPauseMs, maxPauseMs] = [5, 200];

/** Transactions that are run again when the database gives them up. */
export function createTransact(db: Db, busyTimeoutMs: number): Transact {
  function once<R>(work: (db: Db) => Promise<R>): Promise<R> {
    return db.transaction().execute(async (transaction) => {
      const release = await holdConnection(transaction);
      try {
        return await work(transaction);
      } finally {
        release();
      }
    });
  }

  return async (work) => {
    const startedMs = performance.now();
    for (let pauseMs = firstPauseMs; ; pauseMs = Math.min(2 * pauseMs, maxPauseMs)) {
      try {
        return await once(work);
      } catch (error) {
        if (!isRepeatable(error)) throw error;
        const timeoutMs = error.fault === "conflict" ? busyTimeoutMs : Math.min(lostTimeoutMs, busyTimeoutMs);
        if (performance.now() - startedMs + pauseMs > timeoutMs) throw error;
      }
      await sleep(pauseMs * (0.5 + Math.random()));
    }
  };
}

/** Those of a tenant one after the other: in this process they queue without a connection, among processes for a row. */
export function createTransactInTurn(db: Db, transact: Transact, busyTimeoutMs: number): TransactInTurn {
  const takeTurn = prepareTurn(db);
  const queues = new Map<string, { readonly mutex: Mutex; users: number }>();

  return async (businessId, work) => {
    const queue = queues.get(businessId) ?? { mutex: new Mutex(busyTimeoutMs), users: 0 };
    queues.set(businessId, queue);
    queue.users += 1;
    try {
      await queue.mutex.acquire();
      try {
        return await transact(async (transaction) => work(transaction, await takeTurn(transaction, businessId)));
      } finally {
        queue.mutex.release();
      }
    } finally {
      queue.users -= 1;
      if (queue.users === 0) queues.delete(businessId);
    }
  };
}
