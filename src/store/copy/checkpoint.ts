import type { Db } from "../database.ts";
import type { Stored } from "../queries/codec.ts";

/** The values of a row's primary key. */
export type RowKey = readonly Stored[];

/** The progress of a copy, stored in the target database, so that an interrupted copy can continue. */
export interface Checkpoint {
  /** Identifies the source database. */
  readonly source: string;
  /** The table that is being copied and its last copied row. Tables before it by name are complete. */
  readonly table?: string;
  readonly after?: RowKey | undefined;
  /** All rows are copied and compared. Until a process uses the target, the copy can be updated. */
  readonly finished: boolean;
  /** Statements that restore the foreign key checks, which are disabled during the copy. */
  readonly references: readonly string[];
}

/** Name of the setting that holds the checkpoint. */
export const markName = "copy";

export async function readCheckpoint(db: Db): Promise<Checkpoint | undefined> {
  const row = await db.selectFrom("settings").select("value").where("name", "=", markName).executeTakeFirst();
  return row && (JSON.parse(row["value"] as string) as Checkpoint);
}

/**
 * Updates the checkpoint if it is unchanged since it was read.
 * @throws Error when another process copies to the same database
 */
export async function moveCheckpoint(db: Db, from: Checkpoint | undefined, to: Checkpoint): Promise<void> {
  const value = JSON.stringify(to);
  if (!from) {
    await db.insertInto("settings").values({ name: markName, value }).execute();
    return;
  }
  const mark = db.updateTable("settings").set({ value }).where("name", "=", markName);
  const { numUpdatedRows } = await mark.where("value", "=", JSON.stringify(from)).executeTakeFirstOrThrow();
  if (numUpdatedRows === 0n) throw new Error("Another process copies to the same database");
}

/**
 * Marks a database that may be a copy as in use. From then on it is independent of its source.
 * @throws Error when the copy is not finished
 */
export async function settleCopy(db: Db): Promise<void> {
  const mark = await readCheckpoint(db);
  if (!mark) return;
  if (!mark.finished) throw new Error("The database is a copy that was not finished: run programme-mcp copy again");
  await db.deleteFrom("settings").where("name", "=", markName).execute();
}
