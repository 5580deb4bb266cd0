import type { ServerResponse } from "node:http";
import { createUnorderedSet } from "../../lib/collections/unordered-set.ts";

/** Limits how many requests are served at once. */
export interface ConcurrencyLimiter {
  readonly size: number;
  /** Takes a place until the response is closed or `leave` is called. Returns false if there is none. */
  enter(response: ServerResponse): boolean;
  leave(response: ServerResponse): void;
}

/** The time that a client may take to send its request or to read its answer while others wait for its place. */
export const slowClientAfterMs = 2_000;

/**
 * Creates a limiter with so many places. If all are taken, a slow client is disconnected and its place given away:
 * clients that send or read one byte at a time must not keep out the others.
 */
export function createConcurrencyLimiter(places: number): ConcurrencyLimiter {
  const taken = createUnorderedSet<{ readonly response: ServerResponse; readonly sinceMs: number }>();

  function makeRoom(): boolean {
    const before = performance.now() - slowClientAfterMs;
    const isProcessing = ({ req, writableEnded }: ServerResponse) => req.complete && !writableEnded;
    const slowest = taken.find(({ response, sinceMs }) => sinceMs <= before && !isProcessing(response));
    if (!slowest) return false;
    taken.delete(slowest);
    slowest.item.response.destroy();
    return true;
  }

  return {
    get size() {
      return taken.size;
    },
    enter(response) {
      if (taken.size >= places && !makeRoom()) return false;
      const place = taken.add({ response, sinceMs: performance.now() });
      response.on("close", () => taken.delete(place));
      return true;
    },
    leave(response) {
      const place = taken.find((each) => each.response === response);
      if (place) taken.delete(place);
    },
  };
}
