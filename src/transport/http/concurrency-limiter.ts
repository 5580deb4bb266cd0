import type { ServerResponse } from "node:http";
import { createBag } from "../../lib/bag.ts";

/** Requests at work, never more than there are places for. */
export interface ConcurrencyLimiter {
  readonly size: number;
  /** Takes a place for a request, until its answer has ended or `leave` is called; false where there is none. */
  enter(response: ServerResponse): boolean;
  leave(response: ServerResponse): void;
}

/** How long a client may take to send its request or to read its answer while others wait for its place. */
export const slowClientAfterMs = 2_000;

/**
 * Places for requests. Where all are taken, one whose client dawdles is taken from it: strangers who send or read a byte
 * at a time must not keep out those who have something to do.
 */
export function createConcurrencyLimiter(places: number): ConcurrencyLimiter {
  const taken = createBag<{ readonly response: ServerResponse; readonly sinceMs: number }>();

  function makeRoom(): boolean {
    const before = performance.now() - slowClientAfterMs;
    const isAtWork = ({ req, writableEnded }: ServerResponse) => req.complete && !writableEnded;
    const dawdler = taken.find(({ response, sinceMs }) => sinceMs <= before && !isAtWork(response));
    if (!dawdler) return false;
    taken.take(dawdler);
    dawdler.item.response.destroy();
    return true;
  }

  return {
    get size() {
      return taken.size;
    },
    enter(response) {
      if (taken.size >= places && !makeRoom()) return false;
      const place = taken.put({ response, sinceMs: performance.now() });
      // However it ends.
      response.on("close", () => taken.take(place));
      return true;
    },
    leave(response) {
      const place = taken.find((each) => each.response === response);
      if (place) taken.take(place);
    },
  };
}
