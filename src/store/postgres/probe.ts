import { setTimeout as sleep } from "node:timers/promises";
import type { TransactInTurn } from "../engine.ts";
import type { DatabaseState } from "../port.ts";
import type { OpenPool } from "./pools.ts";
import { isStandbyError } from "./primary.ts";

/** How long a change of one row may take. */
const patienceMs = 1_000;
/** No tenant's. */
const nobody = "";

/** Asks whether a database is there, and whether what is changed now is committed in time. */
export function createProbe(
  { tryConnect }: Pick<OpenPool, "tryConnect">,
  inTurn: TransactInTurn,
): () => Promise<DatabaseState> {
  let changing: Promise<DatabaseState> | undefined;

  /** One at a time: where commits wait for a standby, each takes a connection that others could use. */
  function change(): Promise<DatabaseState> {
    changing ??= inTurn(nobody, async () => "ok" as const).finally(() => {
      changing = undefined;
    });
    return changing;
  }

  return async () => {
    try {
      (await tryConnect()).release();
    } catch (error) {
      if (isStandbyError(error)) return "standby";
      throw error;
    }
    const changed = change().catch(() => "changes_wait" as const);
    return Promise.race([changed, sleep(patienceMs, "changes_wait" as const, { ref: false })]);
  };
}
