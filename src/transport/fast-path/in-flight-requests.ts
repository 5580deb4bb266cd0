import { createUnorderedSet } from "../../lib/collections/unordered-set.ts";

/** Requests that are being answered, so that their clients can cancel them. */
export interface InFlightRequests {
  /**
   * Keeps a request until the returned function is called.
   * @param connection - the scope of request ids; undefined if the client cannot come back to a request
   */
  begin(connection: string | undefined, requestId: string | number, controller: AbortController): () => void;
  /** Aborts a request; does nothing if it has ended. */
  cancel(connection: string | undefined, requestId: unknown): void;
}

interface InFlightRequest {
  readonly connection: string;
  readonly requestId: unknown;
  readonly controller: AbortController;
}

export function createInFlightRequests(): InFlightRequests {
  const inFlight = createUnorderedSet<InFlightRequest>();
  return {
    begin(connection, requestId, controller) {
      if (connection === undefined) return () => undefined;
      const slot = inFlight.add({ connection, requestId, controller });
      return () => inFlight.delete(slot);
    },
    cancel(connection, requestId) {
      if (connection === undefined || requestId === undefined) return;
      const isCancelled = (each: InFlightRequest) => each.connection === connection && each.requestId === requestId;
      inFlight.find(isCancelled)?.item.controller.abort();
    },
  };
}
