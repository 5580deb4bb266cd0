import { createBag } from "../../lib/bag.ts";

/** A call that is being answered. */
export interface InFlightRequest {
  /** Aborted when it is called off. */
  readonly signal: AbortSignal;
  /** Calls it off; once it has ended, nothing. */
  abort(): void;
  end(): void;
}

/** Calls that are being answered, so that their clients can call them off. */
export interface InFlightRequests {
  /** @param connection - what request ids are unique in; nothing where nobody can come back to a request */
  begin(connection: string | undefined, requestId: string | number): InFlightRequest;
  cancel(connection: string | undefined, requestId: unknown): void;
}

export function createInFlightRequests(): InFlightRequests {
  const open = createBag<{ readonly connection: string; readonly requestId: unknown; readonly abort: () => void }>();
  return {
    begin(connection, requestId) {
      const controller = new AbortController();
      let ended = false;
      const abort = () => ended || controller.abort();
      const call = connection === undefined ? undefined : open.put({ connection, requestId, abort });
      const end = () => {
        ended = true;
        if (call) open.take(call);
      };
      return { signal: controller.signal, abort, end };
    },
    cancel(connection, requestId) {
      open.find((call) => call.connection === connection && call.requestId === requestId)?.item.abort();
    },
  };
}
