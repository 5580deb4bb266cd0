import type { Clock } from "../lib/clock.ts";
import type { Log } from "../lib/log.ts";
import type { Store } from "../store/port.ts";

/** What every part of the program is made with. */
export interface Local {
  readonly store: Store;
  readonly clock: Clock;
  readonly log: Log;
}
