import { Mutex } from "./mutex.ts";

/** Runs work of each tenant one after the other. */
export type RunInTurn = <R>(businessId: string, work: () => Promise<R>) => Promise<R>;

/**
 * Creates queues of this process, one for each tenant. Work waits in them without a connection, so one tenant's
 * transactions do not take the places of another's.
 * @throws Problem `unavailable` when work waits longer than the timeout
 */
export function createTenantQueues(timeoutMs: number): RunInTurn {
  const queues = new Map<string, { readonly mutex: Mutex; users: number }>();

  return async (businessId, work) => {
    const queue = queues.get(businessId) ?? { mutex: new Mutex(timeoutMs), users: 0 };
    queues.set(businessId, queue);
    queue.users += 1;
    try {
      await queue.mutex.acquire();
      try {
        return await work();
      } finally {
        queue.mutex.release();
      }
    } finally {
      queue.users -= 1;
      if (queue.users === 0) queues.delete(businessId);
    }
  };
}
