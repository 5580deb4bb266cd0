import { finishTurn, maxTurnMs, runUntilItWaits } from "../lib/node/event-loop.ts";
import type { TenantActivity } from "./tenant-activity.ts";

/** Lets requests begin. */
export interface RequestPacer {
  /** Waits until a request of a tenant may begin. Returns undefined if it may begin at once. */
  wait(tenant: string): Promise<void> | undefined;
}

/** Requests of one tenant that begin at most in one turn of the event loop. */
export const maxBegunAlone = 16;
/** The same while others use the process. */
export const maxBegunShared = 4;

/**
 * Creates a pacer: a few requests of each tenant begin in a turn of the event loop. Also requests that are refused take
 * time, and those of another tenant arrive between two turns. While several tenants use the process, further ones begin
 * only if the turn is short. The number of requests that wait is limited by the requests in flight.
 */
export function createRequestPacer(
  { note, isShared }: TenantActivity,
  readMs: () => number = () => performance.now(),
): RequestPacer {
  /** Requests of each tenant that began in this turn. */
  const begun = new Map<string, number>();
  const waiting = new Map<string, (() => void)[]>();
  let isTurnPlanned = false;

  const countPlaces = () => (isShared() ? maxBegunShared : maxBegunAlone);

  function planTurn(): void {
    if (isTurnPlanned) return;
    isTurnPlanned = true;
    setImmediate(() => void takeTurn());
  }

  async function takeTurn(): Promise<void> {
    finishTurn();
    begun.clear();
    const startedMs = readMs();
    const isOver = () => isShared() && readMs() - startedMs >= maxTurnMs;
    for (let round = 0; waiting.size > 0 && round < countPlaces(); round += 1) {
      for (const [tenant, requests] of waiting) beginNext(tenant, requests);
      await runUntilItWaits();
      if (isOver()) break;
    }
    isTurnPlanned = false;
    if (begun.size > 0) planTurn();
  }

  function beginNext(tenant: string, requests: (() => void)[]): void {
    requests.shift()?.();
    if (requests.length === 0) waiting.delete(tenant);
    begun.set(tenant, (begun.get(tenant) ?? 0) + 1);
  }

  return {
    wait(tenant) {
      note(tenant);
      planTurn();
      const requests = waiting.get(tenant);
      const count = begun.get(tenant) ?? 0;
      if (requests) return new Promise((begin) => requests.push(begin));
      if (count >= countPlaces()) return new Promise((begin) => waiting.set(tenant, [begin]));
      begun.set(tenant, count + 1);
      return undefined;
    },
  };
}
