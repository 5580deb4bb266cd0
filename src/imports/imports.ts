import type { Issue } from "../contract/errors.ts";
import { Problem } from "../contract/errors.ts";
import type { ProgramConfig } from "../contract/set-up/program-config.ts";
import type { Clock } from "../lib/clock.ts";
import { createId } from "../lib/ids.ts";
import { commandLine, withAudit } from "../pipeline/audit/with-audit.ts";
import { applyProgramConfig, type SetUpResult } from "../service/set-up/apply.ts";
import { describeProgram } from "../service/set-up/describe.ts";
import type { Author, ChangeContext } from "../store/handler-context.ts";
import type { PipelineTransaction, Store } from "../store/port.ts";

export interface ImportOptions {
  /** Makes the changes and rolls them back, to report what an import would do. */
  readonly dryRun: boolean;
  /** Default: the operator on the command line. */
  readonly author?: Author;
}

/** Sets programmes up in the embedded service, each import in one audited transaction. */
export interface Imports {
  /** @throws Problem `validation_failed`, `program_archived` */
  applyConfig(businessId: string, config: ProgramConfig, options: ImportOptions): Promise<SetUpResult>;
  /** @throws Problem `not_found`, `validation_failed` */
  describeProgram(businessId: string, programId: string): Promise<ProgramConfig>;
}

export function createImports(store: Store, clock: Clock): Imports {
  async function change<R>(
    businessId: string,
    action: string,
    { dryRun, author = commandLine }: ImportOptions,
    work: (context: ChangeContext, transaction: PipelineTransaction) => Promise<R>,
  ): Promise<R> {
    const now = clock.now();
    const rollback = new RollbackSignal<R>();
    try {
      return await withAudit(store, { ...author, businessId, action, now }, async (transaction, emit) => {
        const context = { store: transaction, now: now.toISOString(), newId: createId, emit };
        rollback.result = await work(context, transaction);
        if (dryRun) throw rollback;
        return rollback.result;
      });
    } catch (error) {
      if (error === rollback && rollback.result !== undefined) return rollback.result;
      throw error;
    }
  }

  return {
    applyConfig: (businessId, config, options) =>
      change(businessId, "program.imported", options, (context) => applyProgramConfig(context, config)),
    describeProgram: (businessId, programId) => describeProgram(store.reader(businessId), programId),
  };
}

/** Rolls back the transaction of a dry run and carries its result out. */
class RollbackSignal<R> extends Error {
  result: R | undefined;
}

/** Returns the issues of a refused change, or undefined for other errors. */
export function listIssues(error: unknown): readonly Issue[] | undefined {
  if (!(error instanceof Problem) || error.code !== "validation_failed") return undefined;
  return error.details?.["issues"] as readonly Issue[] | undefined;
}
