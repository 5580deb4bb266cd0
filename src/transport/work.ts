import type { ServerResponse } from "node:http";

/** Requests at work, never more than there are places for. */
export interface Work {
  readonly size: number;
  /** Takes a place for a request, until its answer has ended or `leave` is called; false where there is none. */
  enter(response: ServerResponse): boolean;
  leave(response: ServerResponse): void;
}

/** How long a client may take to send its request or to read its answer while others wait for its place. */
export const patienceMs = 2_000;

/**
 * Places for requests. Where all are taken, one whose client dawdles is taken from it: strangers who send or read a byte
 * at a time must not keep out those who have something to do.
 */
export function createWork(places: number): Work {
  /** When each began, in that order. */
  const begun = new Map<ServerResponse, number>();

  function makeRoom(): boolean {
    const before = performance.now() - patienceMs;
    for (const [response, atMs] of begun) {
      if (atMs > before) return false;
      if (response.req.complete && !response.writableEnded) continue;
      begun.delete(response);
      response.destroy();
      return true;
    }
    return false;
  }

  return {
    get size() {
      return begun.size;
    },
    enter(response) {
      if (begun.size >= places && !makeRoom()) return false;
      begun.set(response, performance.now());
      // Once, however it ends.
      response.once("close", () => begun.delete(response));
      return true;
    },
    leave: (response) => void begun.delete(response),
  };
}
