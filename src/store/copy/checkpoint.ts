import type { Db } from "../database.ts";
import type { Stored } from "../queries/codec.ts";

/** What identifies a row: the values of its primary key. */
export type RowKey = readonly Stored[];

/** How far a copy has come: kept in the database that it goes to, so that it can go on after it was ended. */
export interface Checkpoint {
  /** What the database that is copied is known by. */
  readonly source: string;
  /** The table that rows are being copied of, and the last of them; the tables before it by name are complete. */
  readonly table?: string;
  readonly after?: RowKey | undefined;
  /** Everything is there and compared. Until a process serves it the copy can be brought up to date. */
  readonly finished: boolean;
  /** Statements that bring back the references between tables, which are not checked meanwhile. */
  readonly references: readonly string[];
}

/** Under which the mark is kept among the settings. */
export const markName = "copy";

export async function readCheckpoint(db: Db): Promise<Checkpoint | undefined> {
  const row = await db.selectFrom("settings").select("value").where("name", "=", markName).executeTakeFirst();
  return row && (JSON.parse(row["value"] as string) as Checkpoint);
}

/**
 * Writes how far a copy is now, if it is where it was left.
 * @throws Error where another process copies to the same database
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
 * Takes a database into service that may be a copy: from then on it is one of its own.
 * @throws Error where the copy was not finished
 */
export async function settleCopy(db: Db): Promise<void> {
  const mark = await readCheckpoint(db);
  if (!mark) return;
  if (!mark.finished) throw new Error("The database is a copy that was not finished: run programme-mcp copy again");
  await db.deleteFrom("settings").where("name", "=", markName).execute();
}
