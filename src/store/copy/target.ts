import type { Db } from "../database.ts";
import { type Engine, getAdapter } from "../engine.ts";
import { readMigrationStatus } from "../migrations/migrate.ts";
import { readSchema } from "../schema/read-schema.ts";
import { type Checkpoint, moveCheckpoint, readCheckpoint } from "./checkpoint.ts";
import { hasRows } from "./rows.ts";

/** Thrown when a copy is not possible. Nothing was changed. */
export class CopyRefused extends Error {
  override readonly name = "CopyRefused";
}

/** Tables that describe the database itself, and the progress of the search index, which each database fills itself. */
export const notCopied: ReadonlySet<string> = new Set(["migrations", "migrationLock", "searchProgress"]);

/**
 * Returns the checkpoint of a database that holds an unfinished copy, or undefined for a new database.
 * @throws CopyRefused when it holds anything else
 */
export async function readFreeCheckpoint(db: Db): Promise<Checkpoint | undefined> {
  const used = (await readMigrationStatus(db)).applied.length > 0;
  const begun = used ? await readCheckpoint(db) : undefined;
  if (begun) return begun;
  for (const table of await readSchema(db)) {
    if (notCopied.has(table.name) || (used && table.name === "settings")) continue;
    if (await hasRows(db, table))
      throw new CopyRefused("The database to fill holds data that are not from this copy: name an empty one.");
  }
  return undefined;
}

/**
 * Prepares a database for a copy: a new one, or one with a checkpoint of the same source.
 * @throws CopyRefused when it holds anything else
 */
export function prepareTarget(target: Engine, source: string): Promise<Checkpoint> {
  return target.transactExclusively(async (db) => {
    const begun = await readFreeCheckpoint(db);
    if (begun && begun.source !== source)
      throw new CopyRefused("The database to fill holds a copy of another database: name an empty one.");
    // Settings that were created with the database. The copy brings the source's own, including the key.
    if (!begun) await db.deleteFrom("settings").execute();
    // Tables are copied one by one, and rows of one table may refer to each other. References are checked at the end.
    const references = [...(begun?.references ?? []), ...(await getAdapter(db).suspendReferences(db))];
    const mark = { ...begun, source, references, finished: false };
    await moveCheckpoint(db, begun, mark);
    return mark;
  });
}

/** Checks the references between rows, and finishes the copy. */
export function finishTarget(target: Engine, mark: Checkpoint): Promise<void> {
  return target.transactExclusively(async (db) => {
    await getAdapter(db).restoreReferences(db, mark.references);
    await moveCheckpoint(db, mark, { ...mark, references: [], finished: true });
  });
}
