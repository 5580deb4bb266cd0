import { createHash } from "node:crypto";
import { setImmediate as nextTurn } from "node:timers/promises";
import { type SqlBool, sql } from "kysely";
import type { StoredTable } from "../catalogue.ts";
import type { Stored } from "../codec.ts";
import type { Db } from "../database.ts";
import { type Key, markName } from "./mark.ts";

/** A row's values in the order of its table's columns. */
export type Values = readonly Stored[];

/** Which rows of a table: those behind one, up to another. */
export interface Range {
  readonly after?: Key | undefined;
  readonly to?: Key | undefined;
}

/** As many rows at a time as come to about this much: rows may be large. */
const batchChars = 4 * 1024 * 1024;
const [firstRows, maxRows] = [100, 2_000];

/** The rows of a table in the order of its key, a bounded number at a time. */
export async function* batches(db: Db, table: StoredTable, range: Range = {}): AsyncGenerator<Values[]> {
  let [after, limit] = [range.after, firstRows];
  for (;;) {
    // SQLite answers at once: without a pause a process would not hear that it is to stop.
    await nextTurn();
    const rows = await readRows(db, table, { ...range, after }, limit);
    if (rows.length > 0) yield rows;
    if (rows.length < limit) return;
    after = keyOf(table, rows.at(-1) as Values);
    limit = nextLimit(rows);
  }
}

export async function readRows(db: Db, table: StoredTable, range: Range, limit: number): Promise<Values[]> {
  let query = within(db, table, range).select(table.columns.map(({ name }) => name));
  for (const column of table.key) query = query.orderBy(column);
  const rows = await query.limit(limit).execute();
  return rows.map((row) => table.columns.map(({ name }) => (row as Readonly<Record<string, Stored>>)[name] as Stored));
}

export async function countRows(db: Db, table: StoredTable): Promise<number> {
  const { n } = await within(db, table, {})
    .select((eb) => eb.fn.countAll().as("n"))
    .executeTakeFirstOrThrow();
  return Number(n);
}

export async function anyRows(db: Db, table: StoredTable): Promise<boolean> {
  return (await within(db, table, {}).select(sql`1`.as("one")).limit(1).execute()).length > 0;
}

export async function removeRows(db: Db, table: StoredTable, range: Range): Promise<void> {
  await db
    .deleteFrom(table.name)
    .where(sql<SqlBool>`${sql.join(conditions(table, range), sql` and `)}`)
    .execute();
}

export function keyOf({ columns, key }: StoredTable, row: Values): Key {
  return key.map((name) => row[columns.findIndex((column) => column.name === name)] as Stored);
}

/** How many rows a table has, and the SHA-256 of their values in the order of its key: the same on every database. */
export interface Digest {
  readonly rows: number;
  readonly sha256: string;
}

/** @param onRows - is told of each batch; what it throws ends the work */
export async function digestOf(db: Db, table: StoredTable, onRows: (rows: number) => void): Promise<Digest> {
  const hash = createHash("sha256");
  let count = 0;
  for await (const rows of batches(db, table)) {
    hash.update(textOf(rows));
    count += rows.length;
    onRows(rows.length);
  }
  return { rows: count, sha256: hash.digest("hex") };
}

/** The same text for the same values, whichever database they come from. */
export function textOf(rows: readonly Values[]): string {
  return rows.map((row) => `${JSON.stringify(row)}\n`).join("");
}

function within(db: Db, table: StoredTable, range: Range) {
  return db.selectFrom(table.name).where(sql<SqlBool>`${sql.join(conditions(table, range), sql` and `)}`);
}

function conditions({ name, key }: StoredTable, { after, to }: Range) {
  const columns = sql`(${sql.join(key.map((column) => sql.ref(column)))})`;
  const values = (of: Key) => sql`(${sql.join(of.map((value) => sql`${value}`))})`;
  return [
    // The mark of the copy itself is nothing that is copied.
    name === "settings" ? sql`${sql.ref("name")} <> ${markName}` : sql`1 = 1`,
    ...(after ? [sql`${columns} > ${values(after)}`] : []),
    ...(to ? [sql`${columns} <= ${values(to)}`] : []),
  ];
}

function nextLimit(rows: readonly Values[]): number {
  const chars = rows.reduce((sum, row) => sum + row.reduce<number>((own, value) => own + String(value).length, 0), 0);
  const fitting = Math.floor((rows.length * batchChars) / Math.max(1, chars));
  return Math.max(1, Math.min(maxRows, 4 * rows.length, fitting));
}
