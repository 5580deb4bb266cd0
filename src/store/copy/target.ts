import type { Db } from "../database.ts";
import { adapterOf, type Engine } from "../engine.ts";
import { migrationStatus } from "../migrations/migrate.ts";
import { readCatalogue } from "../read-catalogue.ts";
import { type Mark, moveMark, readMark } from "./mark.ts";
import { anyRows } from "./rows.ts";

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
export async function markOfFree(db: Db): Promise<Mark | undefined> {
  const used = (await migrationStatus(db)).applied.length > 0;
  const begun = used ? await readMark(db) : undefined;
  if (begun) return begun;
  for (const table of await readCatalogue(db)) {
    if (notCopied.has(table.name) || (used && table.name === "settings")) continue;
    if (await anyRows(db, table))
      throw new CopyRefused("The database to fill holds data that are not from this copy: name an empty one.");
  }
  return undefined;
}

/**
 * Makes a database ready to be copied to: a new one, or one that a copy of the same source was begun to.
 * @throws CopyRefused where it holds something else
 */
export function prepareTarget(target: Engine, source: string): Promise<Mark> {
  return target.alone(async (db) => {
    const begun = await markOfFree(db);
    if (begun && begun.source !== source)
      throw new CopyRefused("The database to fill holds a copy of another database: name an empty one.");
    // Made when the database was: the key that belongs to the data comes with them.
    if (!begun) await db.deleteFrom("settings").execute();
    // Rows come table by table, and those of one table may name each other: all is checked at the end.
    const references = [...(begun?.references ?? []), ...(await adapterOf(db).suspendReferences(db))];
    const mark = { ...begun, source, references, finished: false };
    await moveMark(db, begun, mark);
    return mark;
  });
}

/** Checks what rows refer to, and ends the copy. */
export function finishTarget(target: Engine, mark: Mark): Promise<void> {
  return target.alone(async (db) => {
    await adapterOf(db).restoreReferences(db, mark.references);
    await moveMark(db, mark, { ...mark, references: [], finished: true });
  });
}
