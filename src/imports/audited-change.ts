import type { Clock } from "../lib/clock.ts";
import { createId } from "../lib/ids.ts";
import { withAudit } from "../pipeline/audit/with-audit.ts";
import type { Author, ChangeContext } from "../store/handler-context.ts";
import type { PipelineTransaction, Store } from "../store/port.ts";

export interface AuditedChangeOptions {
  readonly businessId: string;
  /** The audit's name of the change. */
  readonly action: string;
  readonly author: Author;
  /** Makes the changes and rolls them back, to report what they would be. */
  readonly dryRun: boolean;
}

type Work<R> = (context: ChangeContext, transaction: PipelineTransaction) => Promise<R>;

/** Makes changes in one audited transaction, or a dry run of them. */
export type RunChange = <R>(options: AuditedChangeOptions, work: Work<R>) => Promise<R>;

export function createRunChange(store: Store, clock: Clock): RunChange {
  return async function runChange<R>({ dryRun, author, ...change }: AuditedChangeOptions, work: Work<R>): Promise<R> {
    const now = clock.now();
    const rollback = new RollbackSignal<R>();
    try {
      return await withAudit(store, { ...author, ...change, now }, async (transaction, emit) => {
        const context = { store: transaction, now: now.toISOString(), newId: createId, emit };
        rollback.result = await work(context, transaction);
        if (dryRun) throw rollback;
        return rollback.result;
      });
    } catch (error) {
      if (error === rollback && rollback.result !== undefined) return rollback.result;
      throw error;
    }
  };
}

/** Rolls back the transaction of a dry run and carries its result out. */
class RollbackSignal<R> extends Error {
  result: R | undefined;
}
