import type { StoredTable } from "../catalogue.ts";
import { adapterOf, type Engine } from "../engine.ts";
import { type Mark, moveMark, readMark } from "./mark.ts";
import { countRows } from "./rows.ts";

/** A copy is not possible like this; nothing was changed. */
export class CopyRefused extends Error {
  override readonly name = "CopyRefused";
}

/**
 * Makes a database ready to be copied to: a new one, or one that a copy of the same source was begun to.
 * @throws CopyRefused where it holds something else
 */
export function prepareTarget(target: Engine, tables: readonly StoredTable[], source: string): Promise<Mark> {
  return target.alone(async (db) => {
    const begun = await readMark(db);
    if (begun && begun.source !== source)
      throw new CopyRefused("The database to fill holds a copy of another database.");
    if (!begun) {
      for (const table of tables) {
        if (table.name === "settings") continue;
        if ((await countRows(db, table)) > 0)
          throw new CopyRefused("The database to fill holds data that are not from this copy.");
      }
      // Made when the database was: the key that belongs to the data comes with them.
      await db.deleteFrom("settings").execute();
    }
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
