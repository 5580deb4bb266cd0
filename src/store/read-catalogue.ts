import type { ColumnRow, ColumnType, IndexRow, StoredIndex, StoredTable } from "./catalogue.ts";
import type { Db } from "./database.ts";
import { adapterOf } from "./engine.ts";

/** The tables of a database by their names, as it has them itself. */
export async function readCatalogue(db: Db): Promise<StoredTable[]> {
  const queries = adapterOf(db).catalogue;
  const columns = Map.groupBy((await queries.columns.execute(db)).rows, ({ table }) => table);
  const indexes = Map.groupBy((await queries.indexes.execute(db)).rows, ({ table }) => table);
  return [...columns].map(([name, own]) => ({
    name,
    columns: own.map(({ column, type }) => ({ name: column, type: type.toLowerCase() as ColumnType })),
    key: keyOf(own),
    indexes: indexesOf(indexes.get(name) ?? []),
  }));
}

function keyOf(columns: readonly ColumnRow[]): string[] {
  const inKey = columns.filter(({ place }) => place > 0);
  return inKey.toSorted((a, b) => a.place - b.place).map(({ column }) => column);
}

function indexesOf(rows: readonly IndexRow[]): StoredIndex[] {
  return [...Map.groupBy(rows, ({ index }) => index)].map(([name, own]) => ({
    name,
    columns: own.map(({ column }) => column),
    unique: own[0]?.unique === 1,
  }));
}
