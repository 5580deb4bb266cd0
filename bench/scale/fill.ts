import { sql } from "kysely";
import { readCatalogue, type StoredTable } from "../../src/store/catalogue.ts";
import type { Stored } from "../../src/store/codec.ts";
import type { Db } from "../../src/store/database.ts";
import { adapterOf, type Engine } from "../../src/store/engine.ts";
import { openEngine, openStore } from "../../src/store/open.ts";
import { type Landmarks, Rows } from "./rows.ts";

export const engines = ["sqlite", "postgres"] as const;
export type EngineName = (typeof engines)[number];

/** What makes filling quick and would be wrong in service; and the indexes, which are made when the rows are there. */
const ways = {
  sqlite: {
    before: ["pragma foreign_keys = off", "pragma synchronous = off", "pragma cache_size = -262144"],
    each: "select 1",
    indexes: `select name, sql from sqlite_master where type = 'index' and sql is not null`,
    after: [],
  },
  postgres: {
    before: [],
    each: "set local session_replication_role = replica",
    indexes: `select i.indexname as name, i.indexdef as sql from pg_indexes i
      where i.schemaname = current_schema()
      and not exists (select 1 from pg_constraint c where c.conname = i.indexname)`,
    after: ["vacuum analyze"],
  },
} as const;

const rowsPerStatement = 1_000;

/** Fills empty databases with the same rows: what is there at any size. */
export async function fill(databases: Readonly<Partial<Record<EngineName, string>>>, size: number): Promise<Landmarks> {
  const lanes = await Promise.all(
    Object.entries(databases).map(([name, database]) => openLane(database, ways[name as EngineName])),
  );
  const rows = new Rows(size);
  const waiting = new Map<string, Readonly<Record<string, unknown>>[]>();
  const flush = async (table: string) => {
    const batch = waiting.get(table) ?? [];
    waiting.delete(table);
    await Promise.all(lanes.map((lane) => lane.insert(table, batch)));
  };
  for (const [table, values] of rows.all()) {
    const batch = waiting.get(table) ?? [];
    waiting.set(table, batch);
    if (batch.push(values) >= rowsPerStatement) await flush(table);
  }
  for (const table of [...waiting.keys()]) await flush(table);
  // One after the other: what SQLite does holds up this process, and connections do not wait for it.
  for (const lane of lanes) await lane.finish();
  return rows.landmarks;
}

async function openLane(database: string, way: (typeof ways)[EngineName]) {
  await (await openStore({ database })).close();
  const engine = await openEngine({ database });
  const { write } = engine;
  for (const statement of way.before) await sql.raw(statement).execute(write);
  const tables = new Map((await readCatalogue(write)).map((table) => [table.name, table]));
  const indexes = (await sql.raw<{ name: string; sql: string }>(way.indexes).execute(write)).rows;
  for (const { name } of indexes) await write.schema.dropIndex(name).execute();
  return {
    insert: (name: string, rows: readonly Readonly<Record<string, unknown>>[]) =>
      insert(engine, way.each, tables.get(name) as StoredTable, rows),
    async finish() {
      await engine.alone(async (db) => {
        for (const index of indexes) await sql.raw(index.sql).execute(db);
      });
      for (const statement of way.after) await sql.raw(statement).execute(write);
      await engine.close();
    },
  };
}

function insert(engine: Engine, each: string, table: StoredTable, rows: readonly Readonly<Record<string, unknown>>[]) {
  const values = rows.map((row) => table.columns.map(({ name }) => (row[name] ?? null) as Stored));
  return engine.transact(async (db: Db) => {
    await sql.raw(each).execute(db);
    await adapterOf(db).insertAll(db, table, values);
  });
}
