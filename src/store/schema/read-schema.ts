import type { Db } from "../database.ts";
import { getAdapter } from "../engine.ts";
import type { ColumnRow, ColumnType, IndexRow, StoredIndex, StoredTable } from "./schema-introspection.ts";

/** Returns the tables of a database by their names, read from the database itself. */
export async function readSchema(db: Db): Promise<StoredTable[]> {
  const queries = getAdapter(db).schemaQueries;
  const columns = Map.groupBy((await queries.columns.execute(db)).rows, ({ table }) => table);
  const indexes = Map.groupBy((await queries.indexes.execute(db)).rows, ({ table }) => table);
  return [...columns].map(([name, own]) => ({
    name,
    columns: own.map(({ column, type }) => ({ name: column, type: type.toLowerCase() as ColumnType })),
    key: getKeyColumns(own),
    indexes: toIndexes(indexes.get(name) ?? []),
  }));
}

function getKeyColumns(columns: readonly ColumnRow[]): string[] {
  const inKey = columns.filter(({ place }) => place > 0);
  return inKey.toSorted((a, b) => a.place - b.place).map(({ column }) => column);
}

function toIndexes(rows: readonly IndexRow[]): StoredIndex[] {
  return [...Map.groupBy(rows, ({ index }) => index)].map(([name, own]) => ({
    name,
    columns: own.map(({ column }) => column),
    unique: own[0]?.unique === 1,
  }));
}
