import { finishTurn } from "../lib/node/end-of-turn.ts";
import type { TenantActivity } from "./tenant-activity.ts";

/** Lets requests begin. */
export interface RequestPacer {
  /** Waits until a request of a tenant may begin. Returns undefined if it may begin at once. */
  wait(tenant: string): Promise<void> | undefined;
}

/** Requests of one tenant that begin in one turn of the event loop while others use the process. */
export const maxBegunInTurn = 4;

/**
 * Creates a pacer. While several tenants use the process, a few requests of each begin in one turn of the event loop:
 * also requests that are refused take time, and those of another tenant arrive between two turns. The number of requests
 * that wait is limited by the requests in flight.
 */
export function createRequestPacer({ note, isShared }: TenantActivity): RequestPacer {
  /** Requests of each tenant that began in this turn. */
  const begun = new Map<string, number>();
  const waiting = new Map<string, (() => void)[]>();
  let isTurnPlanned = false;

  function planTurn(): void {
    if (isTurnPlanned) return;
    isTurnPlanned = true;
    setImmediate(takeTurn);
  }

  function takeTurn(): void {
    isTurnPlanned = false;
    finishTurn();
    begun.clear();
    for (const [tenant, requests] of waiting) {
      const next = requests.splice(0, isShared() ? maxBegunInTurn : requests.length);
      if (requests.length === 0) waiting.delete(tenant);
      begun.set(tenant, next.length);
      for (const begin of next) begin();
    }
    if (begun.size > 0) planTurn();
  }

  return {
    wait(tenant) {
      note(tenant);
      const requests = waiting.get(tenant);
      if (!requests && !isShared()) return undefined;
      planTurn();
      const count = begun.get(tenant) ?? 0;
      if (requests) return new Promise((begin) => requests.push(begin));
      if (count >= maxBegunInTurn) return new Promise((begin) => waiting.set(tenant, [begin]));
      begun.set(tenant, count + 1);
      return undefined;
    },
  };
}
