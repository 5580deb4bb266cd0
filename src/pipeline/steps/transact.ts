import { type Outcome, type PipelineDeps, type PreparedCall, toActor } from "../call.ts";
import { checkIdempotencyKey, runIdempotently } from "./idempotency.ts";
import { runWriteHandler } from "./run-handler.ts";

/**
 * Runs a call that writes in one transaction: idempotency, handler, outbox rows, audit entries and stored result.
 * @throws Problem from the idempotency key, the handler or the rules around it
 */
export function transact(deps: PipelineDeps, prepared: PreparedCall): Promise<Outcome> {
  const { idempotencyKey } = prepared.call;
  if (idempotencyKey !== undefined) checkIdempotencyKey(idempotencyKey);
  return deps.store.transaction(toActor(prepared), async (transaction) => {
    const run = () => runWriteHandler(deps, prepared, transaction);
    const outcome =
      idempotencyKey === undefined
        ? { result: await run(), replayed: false }
        : await runIdempotently(transaction, prepared, idempotencyKey, deps.options.idempotencyStrict, run);
    return { ...outcome, changed: transaction.changes.length > 0 };
  });
}
