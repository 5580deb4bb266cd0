import { problem } from "../contract/errors.ts";
import type { Program } from "../contract/programs.ts";
import type { Reader } from "../store/port.ts";
import type { Row, TableName } from "../store/tables.ts";

/**
 * The record of this id in the caller's tenant.
 * @throws Problem `not_found`, for another tenant's id too
 */
export async function getOrThrow<T extends TableName>(store: Reader, table: T, id: string): Promise<Row<T>> {
  const row = await store.get(table, id);
  if (!row) throw problem("not_found");
  return row;
}

/**
 * Checks that a record is at the version that a caller names; a caller who names none takes it as it is.
 * @throws Problem `version_conflict` with the current version
 */
export function requireVersion(record: { readonly version: number }, version: number | undefined): void {
  if (version !== undefined && record.version !== version)
    throw problem("version_conflict", { currentVersion: record.version });
}

/**
 * The programme of a record about to change.
 * @throws Problem `program_archived`
 */
export async function loadWritableProgram(store: Reader, programId: string): Promise<Program> {
  const program = await getOrThrow(store, "programs", programId);
  if (program.lifecycleStatus === "archived") throw problem("program_archived", { programId });
  return program;
}
