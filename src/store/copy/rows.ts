import { createHash } from "node:crypto";
import { setImmediate as nextTurn } from "node:timers/promises";
import { type SqlBool, sql } from "kysely";
import type { Db } from "../database.ts";
import type { Stored } from "../queries/codec.ts";
import type { StoredTable } from "../schema/schema-introspection.ts";
import { markName, type RowKey } from "./checkpoint.ts";

/** A row's values in the order of its table's columns. */
export type RowValues = readonly Stored[];

/** A range of rows: those after one key, up to another. */
export interface RowRange {
  readonly after?: RowKey | undefined;
  readonly to?: RowKey | undefined;
}

/** Limits the size of a batch, because rows can be large. */
const batchChars = 4 * 1024 * 1024;
const [firstRows, maxRows] = [100, 2_000];

/** Reads the rows of a table in the order of its key, in bounded batches. */
export async function* readBatches(db: Db, table: StoredTable, range: RowRange = {}): AsyncGenerator<RowValues[]> {
  let [after, limit] = [range.after, firstRows];
  for (;;) {
    // SQLite reads synchronously. Without a pause, the process would not receive signals.
    await nextTurn();
    const rows = await readRows(db, table, { ...range, after }, limit);
    if (rows.length > 0) yield rows;
    if (rows.length < limit) return;
    after = getRowKey(table, rows.at(-1) as RowValues);
    limit = chooseNextLimit(rows);
  }
}

export async function readRows(db: Db, table: StoredTable, range: RowRange, limit: number): Promise<RowValues[]> {
  let query = selectWithin(db, table, range).select(table.columns.map(({ name }) => name));
  for (const column of table.key) query = query.orderBy(column);
  const rows = await query.limit(limit).execute();
  return rows.map((row) => table.columns.map(({ name }) => (row as Readonly<Record<string, Stored>>)[name] as Stored));
}

export async function countRows(db: Db, table: StoredTable): Promise<number> {
  const { n } = await selectWithin(db, table, {})
    .select((eb) => eb.fn.countAll().as("n"))
    .executeTakeFirstOrThrow();
  return Number(n);
}

export async function hasRows(db: Db, table: StoredTable): Promise<boolean> {
  return (await selectWithin(db, table, {}).select(sql`1`.as("one")).limit(1).execute()).length > 0;
}

export async function removeRows(db: Db, table: StoredTable, range: RowRange): Promise<void> {
  await db
    .deleteFrom(table.name)
    .where(sql<SqlBool>`${sql.join(createConditions(table, range), sql` and `)}`)
    .execute();
}

export function getRowKey({ columns, key }: StoredTable, row: RowValues): RowKey {
  return key.map((name) => row[columns.findIndex((column) => column.name === name)] as Stored);
}

/** The number of rows of a table, and the SHA-256 of their values in the order of its key. Equal on every database. */
export interface TableDigest {
  readonly rows: number;
  readonly sha256: string;
}

/** @param onRows - called with the size of each batch; if it throws, the work stops */
export async function computeTableDigest(
  db: Db,
  table: StoredTable,
  onRows: (rows: number) => void,
): Promise<TableDigest> {
  const hash = createHash("sha256");
  let count = 0;
  for await (const rows of readBatches(db, table)) {
    hash.update(serializeRows(rows));
    count += rows.length;
    onRows(rows.length);
  }
  return { rows: count, sha256: hash.digest("hex") };
}

/** Returns the same text for the same values of any database. */
export function serializeRows(rows: readonly RowValues[]): string {
  return rows.map((row) => `${JSON.stringify(row)}\n`).join("");
}

function selectWithin(db: Db, table: StoredTable, range: RowRange) {
  return db.selectFrom(table.name).where(sql<SqlBool>`${sql.join(createConditions(table, range), sql` and `)}`);
}

function createConditions({ name, key }: StoredTable, { after, to }: RowRange) {
  const columns = sql`(${sql.join(key.map((column) => sql.ref(column)))})`;
  const listKeyValues = (of: RowKey) => sql`(${sql.join(of.map((value) => sql`${value}`))})`;
  return [
    // The checkpoint itself is not copied.
    name === "settings" ? sql`${sql.ref("name")} <> ${markName}` : sql`1 = 1`,
    ...(after ? [sql`${columns} > ${listKeyValues(after)}`] : []),
    ...(to ? [sql`${columns} <= ${listKeyValues(to)}`] : []),
  ];
}

function chooseNextLimit(rows: readonly RowValues[]): number {
  const chars = rows.reduce((sum, row) => sum + row.reduce<number>((own, value) => own + String(value).length, 0), 0);
  const fitting = Math.floor((rows.length * batchChars) / Math.max(1, chars));
  return Math.max(1, Math.min(maxRows, 4 * rows.length, fitting));
}
