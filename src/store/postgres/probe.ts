import { waitAtMost } from "../../lib/timeout.ts";
import type { TransactSerially } from "../engine.ts";
import type { DatabaseState } from "../port.ts";
import type { OpenPool } from "./pools.ts";
import { isStandbyError } from "./primary.ts";

/** Time within which a change of one row must commit. */
const changeTimeoutMs = 1_000;
/** Belongs to no tenant. */
const nobody = "";

/** Creates a check that the database answers and that changes are committed in time. */
export function createProbe(
  { tryConnect }: Pick<OpenPool, "tryConnect">,
  transactSerially: TransactSerially,
): () => Promise<DatabaseState> {
  let changing: Promise<DatabaseState> | undefined;

  /** One at a time: while commits wait for a standby, each check holds a connection. */
  function change(): Promise<DatabaseState> {
    changing ??= transactSerially(nobody, async () => "ok" as const).finally(() => {
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
    return waitAtMost(changeTimeoutMs, change(), "changes_wait" as const).catch(() => "changes_wait" as const);
  };
}
