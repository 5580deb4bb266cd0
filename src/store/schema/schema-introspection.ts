import { type RawBuilder, sql } from "kysely";

export type ColumnType = "text" | "bigint" | "double precision";

interface StoredColumn {
  readonly name: string;
  readonly type: ColumnType;
}

export interface StoredIndex {
  readonly name: string;
  readonly columns: readonly string[];
  readonly unique: boolean;
}

/** A table as the database describes it. */
export interface StoredTable {
  readonly name: string;
  readonly columns: readonly StoredColumn[];
  /** The columns of its primary key, in their order. */
  readonly key: readonly string[];
  /** All indexes, including the one of the primary key. */
  readonly indexes: readonly StoredIndex[];
}

/** Queries that describe the tables of a database, without those of the full-text index. */
export interface SchemaQueries {
  /**
   * Returns a row for each column, in the table's order: `table`, `column`, `type`, and its position in the primary
   * key or 0.
   */
  readonly columns: RawBuilder<ColumnRow>;
  /**
   * Returns a row for each column of an index, in its order: `table`, `index`, `column`, and `unique`, which is 1 for
   * a unique index.
   */
  readonly indexes: RawBuilder<IndexRow>;
}

export interface ColumnRow {
  readonly table: string;
  readonly column: string;
  readonly type: string;
  readonly place: number;
}

export interface IndexRow {
  readonly table: string;
  readonly index: string;
  readonly column: string;
  readonly unique: number;
}

/** Excludes virtual tables and those in which they store their data. */
const isOwnTable = sql`m.type = 'table' and m.name in
  (select name from pragma_table_list where schema = 'main' and type = 'table' and name not glob 'sqlite_*')`;

export const sqliteCatalogue: SchemaQueries = {
  columns: sql`
    select m.name as "table", c.name as "column", c.type, c.pk as place
    from sqlite_master m join pragma_table_info(m.name) c
    where ${isOwnTable} order by m.name, c.cid`,
  indexes: sql`
    select m.name as "table", l.name as "index", c.name as "column", l."unique"
    from sqlite_master m join pragma_index_list(m.name) l join pragma_index_info(l.name) c
    where ${isOwnTable} order by m.name, l.name, c.seqno`,
};

const isNoTextIndex = sql`not exists
  (select 1 from pg_attribute x where x.attrelid = t.oid and x.atttypid = 'tsvector'::regtype)`;

export const postgresCatalogue: SchemaQueries = {
  columns: sql`
    select t.relname::text as "table", a.attname::text as "column", format_type(a.atttypid, null) as type,
      coalesce(array_position(string_to_array(i.indkey::text, ' '), a.attnum::text), 0) as place
    from pg_class t join pg_attribute a on a.attrelid = t.oid and a.attnum > 0 and not a.attisdropped
    left join pg_index i on i.indrelid = t.oid and i.indisprimary
    where t.relkind in ('r', 'p') and t.relnamespace = current_schema()::regnamespace and ${isNoTextIndex}
    order by t.relname collate "C", a.attnum`,
  indexes: sql`
    select t.relname::text as "table", n.relname::text as "index", a.attname::text as "column",
      i.indisunique::int as "unique"
    from pg_index i join pg_class t on t.oid = i.indrelid join pg_class n on n.oid = i.indexrelid
    join pg_attribute a on a.attrelid = n.oid
    where t.relkind in ('r', 'p') and t.relnamespace = current_schema()::regnamespace and ${isNoTextIndex}
    order by t.relname collate "C", n.relname collate "C", a.attnum`,
};
