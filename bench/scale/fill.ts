import { sql } from "kysely";
import { type Engine, getAdapter } from "../../src/store/engine.ts";
import { openEngine, openStore } from "../../src/store/open.ts";
import type { Stored } from "../../src/store/queries/codec.ts";
import { readSchema } from "../../src/store/schema/read-schema.ts";
import type { StoredTable } from "../../src/store/schema/schema-introspection.ts";
import { copySubmissions, dividePartitions } from "./copies.ts";
import { Rows } from "./rows.ts";
import type { Landmarks } from "./tenant.ts";

export const engineNames = ["SQLite", "PostgreSQL"] as const;
export type EngineName = (typeof engineNames)[number];

/**
 * Settings that speed up filling but are unsafe in production, and the query that finds the indexes to create
 * afterwards.
 */
const ways = {
  SQLite: {
    before: [
      "pragma foreign_keys = off",
      "pragma synchronous = off",
      "pragma cache_size = -524288",
      "pragma temp_store = memory",
    ],
    each: "select 1",
    indexes: "select name, sql from sqlite_master where type = 'index' and sql is not null",
    after: ["pragma wal_checkpoint(truncate)"],
    sizeBytes: "select page_count * page_size as bytes from pragma_page_count(), pragma_page_size()",
  },
  PostgreSQL: {
    before: [],
    each: "set local session_replication_role = replica",
    indexes: `select i.indexname as name, i.indexdef as sql from pg_indexes i
      where i.schemaname = current_schema()
      and not exists (select 1 from pg_constraint c where c.conname = i.indexname)`,
    after: ["vacuum (freeze, analyze)"],
    sizeBytes: "select pg_database_size(current_database()) as bytes",
  },
} as const;

type StoredValues = Readonly<Record<string, unknown>>;

const rowsPerStatement = 1_000;
const rowsPerTransaction = 20_000;

export interface FilledDatabase {
  readonly landmarks: Landmarks;
  readonly rows: number;
  readonly sizeBytes: number;
}

export interface FillOptions {
  /** Times that each submission is stored. All but one have no related rows. */
  readonly copies: number;
  /** Partitions of the table of submissions; 0 leaves it whole. */
  readonly partitions: number;
}

/** Fills an empty database with this many submissions and related rows. Returns the records to measure. */
export async function fill(
  name: EngineName,
  database: string,
  size: number,
  { copies, partitions }: FillOptions,
): Promise<FilledDatabase> {
  await (await openStore({ database })).close();
  const way = ways[name];
  const engine = await openEngine({ database });
  const { write } = engine;
  for (const statement of way.before) await sql.raw(statement).execute(write);
  const indexes = (await sql.raw<{ name: string; sql: string }>(way.indexes).execute(write)).rows;
  for (const index of indexes) await write.schema.dropIndex(index.name).execute();
  if (partitions > 0) await engine.transactExclusively((db) => dividePartitions(db, partitions));
  const rows = new Rows(size);
  const count = (await insertAll(engine, way.each, rows)) + size * (copies - 1);
  if (copies > 1) await engine.transactExclusively((db) => copySubmissions(db, copies, way.each));
  for (const index of indexes) await engine.transactExclusively((db) => sql.raw(index.sql).execute(db));
  await engine.close();
  const sizeBytes = await tidy(database, way);
  return { landmarks: rows.landmarks, rows: count, sizeBytes };
}

async function insertAll(engine: Engine, each: string, rows: Rows): Promise<number> {
  const tables = new Map((await readSchema(engine.write)).map((table) => [table.name, table]));
  const waiting = new Map<string, StoredValues[]>();
  let count = 0;
  const flush = () =>
    engine.transact(async (db) => {
      await sql.raw(each).execute(db);
      for (const [name, own] of waiting) {
        const table = tables.get(name) as StoredTable;
        for (let start = 0; start < own.length; start += rowsPerStatement) {
          const batch = own.slice(start, start + rowsPerStatement);
          const values = batch.map((row) => table.columns.map((column) => (row[column.name] ?? null) as Stored));
          await getAdapter(db).insertAll(db, table, values);
        }
      }
      waiting.clear();
    });
  for (const [table, values] of rows.all()) {
    const own = waiting.get(table);
    if (own) own.push(values);
    else waiting.set(table, [values]);
    count += 1;
    if (count % rowsPerTransaction === 0) await flush();
  }
  await flush();
  return count;
}

async function tidy(database: string, { after, sizeBytes }: (typeof ways)[EngineName]): Promise<number> {
  const engine = await openEngine({ database });
  for (const statement of after) {
    if (statement.startsWith("vacuum")) await vacuum(database, statement);
    else await sql.raw(statement).execute(engine.write);
  }
  const { rows } = await sql.raw<{ bytes: number | string }>(sizeBytes).execute(engine.write);
  await engine.close();
  return Number(rows[0]?.bytes);
}

/** Takes longer than a statement of the program may, and cannot be part of a transaction. */
async function vacuum(database: string, statement: string): Promise<void> {
  const { default: pg } = await import("pg");
  const client = new pg.Client(database);
  await client.connect();
  const startedMs = performance.now();
  await client.query(statement);
  console.log(`${statement}: ${((performance.now() - startedMs) / 1000).toFixed(0)} s`);
  await client.end();
}
