import type { Clock } from "../lib/clock.ts";
import { createId } from "../lib/ids.ts";
import { withAudit } from "../pipeline/audit/with-audit.ts";
import { runRolledBack } from "../pipeline/rollback.ts";
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
  return <R>({ dryRun, author, ...change }: AuditedChangeOptions, work: Work<R>) => {
    const now = clock.now();
    const transact = <Made>(make: (run: () => Promise<R>) => Promise<Made>) =>
      withAudit(store, { ...author, ...change, now }, (transaction, emit) => {
        const context = { store: transaction, now: now.toISOString(), newId: createId, emit };
        return make(() => work(context, transaction));
      });
    return dryRun ? runRolledBack<() => Promise<R>, R>(transact, (run) => run()) : transact((run) => run());
  };
}
