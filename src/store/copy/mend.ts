import type { StoredTable } from "../catalogue.ts";
import type { Db } from "../database.ts";
import { adapterOf, type Engine } from "../engine.ts";
import type { Key } from "./mark.ts";
import { batches, keyOf, type Range, readRows, removeRows, textOf, type Values } from "./rows.ts";

/**
 * Makes a table, or its rows up to one, what it is in the source, without writing what is the same already.
 * @param onBatch - is told of each batch that is looked at; what it throws ends the work
 */
export async function mend(both: Sides, table: StoredTable, onBatch: () => void, to?: Key): Promise<void> {
  const { target } = both;
  // All that is different goes before anything comes: a value that one row alone may have can have moved to another.
  for await (const { range } of differing(both, table, onBatch, to)) {
    await target.transact((db) => removeRows(db, table, range));
  }
  for await (const { rows } of differing(both, table, onBatch, to)) {
    await target.transact((db) => adapterOf(db).insertAll(db, table, rows));
  }
}

export interface Sides {
  /** As it was when the work began. */
  readonly source: Db;
  readonly target: Engine;
}

interface Difference {
  readonly range: Range;
  /** What the source has there. */
  readonly rows: readonly Values[];
}

async function* differing(
  { source, target }: Sides,
  table: StoredTable,
  onBatch: () => void,
  end?: Key,
): AsyncGenerator<Difference> {
  let after: Key | undefined;
  for await (const rows of batches(source, table, { to: end })) {
    onBatch();
    const to = keyOf(table, rows.at(-1) as Values);
    const range = { after, to };
    const there = await readRows(target.read, table, range, rows.length + 1);
    if (textOf(there) !== textOf(rows)) yield { range, rows };
    after = to;
  }
  const rest = { after, to: end };
  if ((await readRows(target.read, table, rest, 1)).length > 0) yield { range: rest, rows: [] };
}
