import { problem } from "../contract/errors.ts";
import { WaitQueue } from "../lib/wait-queue.ts";

/** Shares a process between organisations. */
export interface FairScheduler {
  /**
   * Runs work of a tenant when it is its turn. The first call of a tenant starts at once.
   * @throws Problem `unavailable` when too many calls of the tenant wait, or this one has waited too long
   */
  run<R>(tenant: string, work: () => Promise<R>): Promise<R>;
}

export interface TenantLimits {
  /** Calls of one tenant that run at once. */
  readonly maxRunning: number;
  /** Calls of one tenant that wait. */
  readonly maxWaiting: number;
  /** Time that a call waits at most. */
  readonly maxWaitMs: number;
}

interface TenantCalls {
  running: number;
  readonly waiting: WaitQueue;
}

/**
 * Fewer calls start in a turn of the event loop after a turn that took more processor time, in microseconds. Time on the
 * clock would include that of other processes on the machine.
 */
const wantedTurnUs = 5_000;
/** A turn has other work too, so fewer starts would make calls wait while the process could run them. */
const minStarts = 8;

/**
 * Creates a scheduler that keeps one tenant from delaying the others. Only so many calls start in one turn of the event
 * loop that it stays short, and tenants take turns. Requests of other tenants arrive between two turns, so they wait for
 * the calls of one turn, and not for all that a busy tenant has sent.
 */
export function createFairScheduler({ maxRunning, maxWaiting, maxWaitMs }: TenantLimits): FairScheduler {
  const tenants = new Map<string, TenantCalls>();
  /** Tenants with a call that may start, in the order of their turns. */
  const ready = new Set<TenantCalls>();
  let maxStarts = minStarts;
  let starts = 0;
  let turnStarted = process.cpuUsage();
  let isTurnWatched = false;

  function watchTurn(): void {
    if (isTurnWatched) return;
    isTurnWatched = true;
    turnStarted = process.cpuUsage();
    setImmediate(endTurn);
  }

  function endTurn(): void {
    isTurnWatched = false;
    const { user, system } = process.cpuUsage(turnStarted);
    if (user + system > wantedTurnUs) maxStarts = Math.max(minStarts, maxStarts >> 1);
    else if (starts >= maxStarts) maxStarts = Math.min(maxRunning, maxStarts + 1);
    starts = 0;
    for (const tenant of ready) {
      if (starts >= maxStarts) break;
      ready.delete(tenant);
      if (!tenant.waiting.releaseNext()) continue; // All its calls have waited too long and left.
      start(tenant);
      markReady(tenant);
    }
    if (ready.size > 0) watchTurn();
  }

  function start(tenant: TenantCalls): void {
    tenant.running += 1;
    starts += 1;
    watchTurn();
  }

  function markReady(tenant: TenantCalls): void {
    if (tenant.waiting.size === 0 || tenant.running >= maxRunning) return;
    ready.add(tenant);
    watchTurn();
  }

  const mayStart = ({ waiting, running }: TenantCalls) =>
    waiting.size === 0 && running < maxRunning && (running === 0 || starts < maxStarts);

  async function waitForTurn(tenant: TenantCalls): Promise<void> {
    if (tenant.waiting.size >= maxWaiting) throw problem("unavailable", { retryAfterSeconds: 1 });
    const waited = tenant.waiting.wait(maxWaitMs);
    markReady(tenant);
    if (!(await waited)) throw problem("unavailable", { retryAfterSeconds: 1 });
  }

  return {
    async run(key, work) {
      const tenant = tenants.get(key) ?? { running: 0, waiting: new WaitQueue() };
      tenants.set(key, tenant);
      if (mayStart(tenant)) start(tenant);
      else await waitForTurn(tenant);
      try {
        return await work();
      } finally {
        tenant.running -= 1;
        if (tenant.running === 0 && tenant.waiting.size === 0) tenants.delete(key);
        else markReady(tenant);
      }
    },
  };
}
