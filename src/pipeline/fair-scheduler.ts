import { problem } from "../contract/errors.ts";
import { WaitQueue } from "../lib/collections/wait-queue.ts";
import { maxTurnMs as maxTurnSharedMs, runStep, runUntilItWaits } from "../lib/node/event-loop.ts";
import type { TenantActivity } from "./tenant-activity.ts";

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
  /** The same while others use the process. */
  readonly maxRunningShared: number;
  /** Calls of one tenant that wait. */
  readonly maxWaiting: number;
  /** Time that a call waits at most. */
  readonly maxWaitMs: number;
}

interface TenantCalls {
  running: number;
  readonly waiting: WaitQueue;
  /** Processor time that the tenant has used, in microseconds, from that of the others when its calls began to wait. */
  usedUs: number;
}

/** No further call starts in a turn of the event loop that has taken more processor time, in microseconds. */
const maxTurnUs = 2_000;

/** Returns the processor time of this process. Time on the clock would include that of others on the machine. */
function readProcessorUs(): number {
  const { user, system } = process.cpuUsage();
  return user + system;
}

/**
 * Creates a scheduler that keeps one tenant from delaying the others. Calls start one by one, the next of the tenant
 * that has used the least processor time (start-time fair queueing), until the turn of the event loop has taken long
 * enough. Requests of other tenants arrive between two turns, so they wait for a few calls of a busy tenant at most.
 */
export function createFairScheduler(
  { maxRunning, maxRunningShared, maxWaiting, maxWaitMs }: TenantLimits,
  { isShared }: Pick<TenantActivity, "isShared">,
  readUsedUs: () => number = readProcessorUs,
): FairScheduler {
  const tenants = new Map<string, TenantCalls>();
  /** Tenants with a call that may start. */
  const ready = new Set<TenantCalls>();
  /** Processor time that the tenant of the last started call had used before. */
  let startedAtUs = 0;
  let isTurnPlanned = false;

  const countPlaces = () => (isShared() ? maxRunningShared : maxRunning);

  function planTurn(): void {
    if (isTurnPlanned || ready.size === 0) return;
    isTurnPlanned = true;
    runStep(takeTurn);
  }

  async function takeTurn(): Promise<void> {
    const turnStartedUs = readUsedUs();
    let nowUs = turnStartedUs;
    const places = countPlaces();
    const isOver = () => nowUs - turnStartedUs >= (isShared() ? maxTurnSharedMs * 1_000 : maxTurnUs);
    for (let next = takeNext(ready, places); next; next = isOver() ? undefined : takeNext(ready, places)) {
      startedAtUs = next.usedUs;
      await runUntilItWaits();
      const beforeUs = nowUs;
      nowUs = readUsedUs();
      next.usedUs += Math.max(1, nowUs - beforeUs);
    }
    isTurnPlanned = false;
    planTurn();
  }

  function markReady(tenant: TenantCalls): void {
    if (tenant.waiting.size === 0 || tenant.running >= countPlaces() || ready.has(tenant)) return;
    // A tenant without waiting calls saves nothing up for later.
    tenant.usedUs = Math.max(tenant.usedUs, startedAtUs);
    ready.add(tenant);
    planTurn();
  }

  async function waitForTurn(tenant: TenantCalls): Promise<void> {
    // Some of those that wait may start, but not in this turn.
    const places = maxRunning + maxWaiting;
    if (tenant.running + tenant.waiting.size >= places) throw problem("unavailable", { retryAfterSeconds: 1 });
    const waited = tenant.waiting.wait(maxWaitMs);
    markReady(tenant);
    if (!(await waited)) throw problem("unavailable", { retryAfterSeconds: 1 });
  }

  return {
    async run(key, work) {
      const tenant = tenants.get(key) ?? { running: 0, waiting: new WaitQueue(), usedUs: startedAtUs };
      tenants.set(key, tenant);
      if (tenant.running > 0 || tenant.waiting.size > 0) await waitForTurn(tenant);
      else tenant.running += 1;
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

/** Lets the next of the calls that are ready start, and returns its tenant. */
function takeNext(ready: Set<TenantCalls>, maxRunning: number): TenantCalls | undefined {
  while (ready.size > 0) {
    const next = [...ready].reduce((least, tenant) => (tenant.usedUs < least.usedUs ? tenant : least));
    const isStarted = next.waiting.releaseNext();
    if (isStarted) next.running += 1;
    if (next.waiting.size === 0 || next.running >= maxRunning) ready.delete(next);
    if (isStarted) return next;
  }
  return undefined;
}
