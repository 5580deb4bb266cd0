import { type CallName, isWorkflowName, workflows } from "../../contract/index.ts";
import { isPostgresAddress } from "../../lib/postgres-address.ts";
import type { PipelineOptions, PreparedCall } from "../call.ts";
import { createFairScheduler, type TenantLimits } from "../fair-scheduler.ts";
import { createRequestPacer } from "../request-pacer.ts";
import { createTenantActivity } from "../tenant-activity.ts";

/** Shares the process between the calls of organisations. */
export interface CallScheduler {
  /** Returns whether several organisations use the process. */
  isShared(): boolean;
  /** Waits until a call may be prepared: its input is read, validated, and run or refused. */
  waitToBegin(businessId: string): Promise<void> | undefined;
  /**
   * Runs a prepared call when it is its organisation's turn.
   * @throws Problem `unavailable` when too many calls of the organisation wait, or this one has waited too long
   */
  run<R>(call: PreparedCall, work: () => Promise<R>): Promise<R>;
}

type Limits = Pick<PipelineOptions, "database" | "databaseConnections" | "maxConcurrentRequests">;

/** Calls of one organisation that run at once on SQLite, which has no connections to share. */
const sqliteCalls = 16;
/**
 * Workflows of one kind, with scans or without, that run at once. More scans would not end sooner on one processor, and
 * each may hold a hundred megabytes: two keep it busy while one reads.
 */
const runningWorkflows = 2;
/**
 * Calls of one organisation that run at once on PostgreSQL while others call. The answers of the database to all of them
 * may come in one turn of the event loop, and calls of others wait until they are processed.
 */
const sharedPostgresCalls = 2;
/** The same of workflows, on either database. */
const sharedWorkflows = 1;
/** A call that waits longer is refused, so that callers learn soon when the database is slow or away. */
const callWaitMs = 10_000;
/** A workflow may take seconds, and those before it too. */
const workflowWaitMs = 30_000;

/**
 * Returns how many calls of one organisation run and wait at once. All its calls take at most half of the places for
 * requests, its workflows at most a quarter, so others always find a place. They also find a free connection.
 */
export function getCallLimits({ database, databaseConnections, maxConcurrentRequests }: Limits): TenantLimits {
  const isPostgres = isPostgresAddress(database);
  const connections = isPostgres ? Math.ceil(databaseConnections / 2) - 1 : sqliteCalls;
  return {
    ...divide(maxConcurrentRequests / 2, connections, isPostgres ? sharedPostgresCalls : connections),
    maxWaitMs: callWaitMs,
  };
}

/**
 * Returns the same of workflows that scan, and of the others. Each kind has its own places, because a scan may take
 * seconds: no call, no search and no brief waits for scans.
 */
export function getWorkflowLimits({ maxConcurrentRequests }: Limits): TenantLimits {
  return { ...divide(maxConcurrentRequests / 8, runningWorkflows, sharedWorkflows), maxWaitMs: workflowWaitMs };
}

function divide(places: number, wantedRunning: number, wantedShared: number): Omit<TenantLimits, "maxWaitMs"> {
  const maxRunning = Math.max(1, Math.min(wantedRunning, Math.floor(places / 2)));
  return {
    maxRunning,
    maxRunningShared: Math.min(maxRunning, wantedShared),
    maxWaiting: Math.max(0, Math.floor(places) - maxRunning),
  };
}

export function createCallScheduler(limits: Limits): CallScheduler {
  const activity = createTenantActivity();
  const pacer = createRequestPacer(activity);
  const calls = createFairScheduler(getCallLimits(limits), activity);
  const lookups = createFairScheduler(getWorkflowLimits(limits), activity);
  const scans = createFairScheduler(getWorkflowLimits(limits), activity);
  const choose = (name: CallName) => (isWorkflowName(name) ? (workflows[name].scans ? scans : lookups) : calls);
  return {
    isShared: activity.isShared,
    waitToBegin: pacer.wait,
    run: ({ name, caller }, work) => choose(name).run(caller.businessId, work),
  };
}
