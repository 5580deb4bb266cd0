import type { Db } from "../database.ts";
import { type Engine, getAdapter } from "../engine.ts";
import type { StoredTable } from "../schema/schema-introspection.ts";
import type { RowKey } from "./checkpoint.ts";
import { getRowKey, type RowRange, type RowValues, readBatches, readRows, removeRows, serializeRows } from "./rows.ts";

/**
 * Makes a table, or its rows up to one, what it is in the source, without writing what is the same already.
 * @param onBatch - is told of each batch that is looked at; what it throws ends the work
 */
export async function reconcileTable(both: Sides, table: StoredTable, onBatch: () => void, to?: RowKey): Promise<void> {
  const { target } = both;
  // All that is different goes before anything comes: a value that one row alone may have can have moved to another.
  for await (const { range } of listDifferences(both, table, onBatch, to)) {
    await target.transact((db) => removeRows(db, table, range));
  }
  for await (const { rows } of listDifferences(both, table, onBatch, to)) {
    await target.transact((db) => getAdapter(db).insertAll(db, table, rows));
  }
}

export interface Sides {
  /** As it was when the work began. */
  readonly source: Db;
  readonly target: Engine;
}

interface Difference {
  readonly range: RowRange;
  /** What the source has there. */
  readonly rows: readonly RowValues[];
}

async function* listDifferences(
  { source, target }: Sides,
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
