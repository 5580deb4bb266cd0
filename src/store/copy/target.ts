import type { Db } from "../database.ts";
import { type Engine, getAdapter } from "../engine.ts";
import { readMigrationStatus } from "../migrations/migrate.ts";
import { readSchema } from "../schema/read-schema.ts";
import { type Checkpoint, moveCheckpoint, readCheckpoint } from "./checkpoint.ts";
import { hasRows } from "./rows.ts";

/** A copy is not possible like this; nothing was changed. */
export class CopyRefused extends Error {
  override readonly name = "CopyRefused";
}

/** What a database says of itself. */
export const notCopied: ReadonlySet<string> = new Set(["migrations", "migrationLock"]);

/**
 * Gives the mark of the copy that a database holds; without one it has to be new.
 * @throws CopyRefused where it holds something else
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
 * Makes a database ready to be copied to: a new one, or one that a copy of the same source was begun to.
 * @throws CopyRefused where it holds something else
 */
export function prepareTarget(target: Engine, source: string): Promise<Checkpoint> {
  return target.alone(async (db) => {
    const begun = await readFreeCheckpoint(db);
    if (begun && begun.source !== source)
      throw new CopyRefused("The database to fill holds a copy of another database: name an empty one.");
    // Made when the database was: the key that belongs to the data comes with them.
    if (!begun) await db.deleteFrom("settings").execute();
    // Rows come table by table, and those of one table may name each other: all is checked at the end.
    const references = [...(begun?.references ?? []), ...(await getAdapter(db).suspendReferences(db))];
    const mark = { ...begun, source, references, finished: false };
    await moveCheckpoint(db, begun, mark);
    return mark;
  });
}

/** Checks what rows refer to, and ends the copy. */
export function finishTarget(target: Engine, mark: Checkpoint): Promise<void> {
  return target.alone(async (db) => {
    await getAdapter(db).restoreReferences(db, mark.references);
    await moveCheckpoint(db, mark, { ...mark, references: [], finished: true });
  });
}
