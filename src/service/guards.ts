import { problem } from "../contract/errors.ts";
import type { Program } from "../contract/programs.ts";
import type { Reader } from "../store/port.ts";
import type { Row, TableName } from "../store/tables.ts";

/**
 * Returns the record with this id in the caller's tenant.
 * @throws Problem `not_found`, also for an id of another tenant
 */
export async function getOrThrow<T extends TableName>(store: Reader, table: T, id: string): Promise<Row<T>> {
  const row = await store.get(table, id);
  if (!row) throw problem("not_found");
  return row;
}

/**
 * Checks a record's version, if the caller gives one.
 * @throws Problem `version_conflict` with the current version
 */
export function requireVersion(record: { readonly version: number }, version: number | undefined): void {
  if (version !== undefined && record.version !== version)
    throw problem("version_conflict", { currentVersion: record.version });
}

/**
 * Returns the programme of a record that is about to change.
 * @throws Problem `program_archived`
 */
export async function loadWritableProgram(store: Reader, programId: string): Promise<Program> {
  const program = await getOrThrow(store, "programs", programId);
  if (program.lifecycleStatus === "archived") throw problem("program_archived", { programId });
  return program;
}
