import type { Db } from "../database.ts";
import { type Engine, getAdapter } from "../engine.ts";
import type { StoredTable } from "../schema/schema-introspection.ts";
import type { RowKey } from "./checkpoint.ts";
import { getRowKey, type RowRange, type RowValues, readBatches, readRows, removeRows, serializeRows } from "./rows.ts";

/**
 * Makes a table, or its rows up to `to`, equal to the source. Writes only rows that differ.
 * @param onBatch - called for each batch that is compared; if it throws, the work stops
 */
export async function reconcileTable(
  both: CopySides,
  table: StoredTable,
  onBatch: () => void,
  to?: RowKey,
): Promise<void> {
  const { target } = both;
  // Deletes all different rows before inserting: a unique value may have moved to another row.
  for await (const { range } of listDifferences(both, table, onBatch, to)) {
    await target.transact((db) => removeRows(db, table, range));
  }
  for await (const { rows } of listDifferences(both, table, onBatch, to)) {
    await target.transact((db) => getAdapter(db).insertAll(db, table, rows));
  }
}

export interface CopySides {
  /** The source as it was when the work began. */
  readonly source: Db;
  readonly target: Engine;
}

interface Difference {
  readonly range: RowRange;
  /** The source's rows of this range. */
  readonly rows: readonly RowValues[];
}

async function* listDifferences(
  { source, target }: CopySides,
  table: StoredTable,
  onBatch: () => void,
  end?: RowKey,
): AsyncGenerator<Difference> {
  let after: RowKey | undefined;
  for await (const rows of readBatches(source, table, { to: end })) {
    onBatch();
    const to = getRowKey(table, rows.at(-1) as RowValues);
    const range = { after, to };
    const there = await readRows(target.read, table, range, rows.length + 1);
    if (serializeRows(there) !== serializeRows(rows)) yield { range, rows };
    after = to;
  }
  const rest = { after, to: end };
  if ((await readRows(target.read, table, rest, 1)).length > 0) yield { range: rest, rows: [] };
}
