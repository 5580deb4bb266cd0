import type { StoredTable } from "../catalogue.ts";
import type { Db } from "../database.ts";
import { adapterOf, type Engine } from "../engine.ts";
import type { Key } from "./mark.ts";
import { batches, keyOf, type Range, readRows, removeRows, textOf, type Values } from "./rows.ts";

/** Makes a table, or its rows up to one, what it is in the source, without writing what is the same already. */
export async function mend(source: Db, target: Engine, table: StoredTable, to?: Key): Promise<void> {
  // All that is different goes before anything comes: a value that one row alone may have can have moved to another.
  for await (const { range } of differing(source, target, table, to)) {
    await target.transact((db) => removeRows(db, table, range));
  }
  for await (const { rows } of differing(source, target, table, to)) {
    await target.transact((db) => adapterOf(db).insertAll(db, table, rows));
  }
}

interface Difference {
  readonly range: Range;
  /** What the source has there. */
  readonly rows: readonly Values[];
}

async function* differing(source: Db, target: Engine, table: StoredTable, end?: Key): AsyncGenerator<Difference> {
  let after: Key | undefined;
  for await (const rows of batches(source, table, { to: end })) {
    const to = keyOf(table, rows.at(-1) as Values);
    const range = { after, to };
    const there = await readRows(target.read, table, range, rows.length + 1);
    if (textOf(there) !== textOf(rows)) yield { range, rows };
    after = to;
  }
  const rest = { after, to: end };
  if ((await readRows(target.read, table, rest, 1)).length > 0) yield { range: rest, rows: [] };
}
