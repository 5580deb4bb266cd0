import {
  type Compilable,
  type CompiledQuery,
  type DatabaseConnection,
  type Kysely,
  type QueryResult,
  sql,
} from "kysely";
import { LRUCache } from "lru-cache";
import * as z from "zod";
import { Token } from "../contract/access/tokens.ts";
import { AuditEntry } from "../contract/audit.ts";
import type { ChangeEntry } from "./port.ts";
import { type Codec, createCodec } from "./queries/codec.ts";
import { LogEntry } from "./queues/event-log.ts";
import { type Row, type Table, type TableName, tables } from "./tables.ts";

/** Tables and columns are known by name only. The codecs know their types. */
export type Database = Record<string, Record<string, unknown>>;
export type Db = Kysely<Database>;

/** The table that holds one kind of row, and its codec. */
export interface Source<R> {
  readonly name: string;
  /** The columns that identify a row within its tenant, the id first. */
  readonly key: readonly [string, ...string[]];
  readonly codec: Codec<R>;
}

const sources = Object.fromEntries(
  Object.entries<Table>(tables).map(([name, { id, revision, record }]) => [
    name,
    { name, key: revision === undefined ? [id] : [id, revision], codec: createCodec(record) },
  ]),
);

export function createSource<T extends TableName>(table: T): Source<Row<T>> {
  return sources[table] as unknown as Source<Row<T>>;
}

const partialSources = new LRUCache<string, Source<unknown>>({ max: 200 });

/** Returns a source that reads only these columns of a table, and those that identify a row. Other names are ignored. */
export function getPartialSource<T extends TableName>(table: T, columns: readonly string[]): Source<Row<T>> {
  const partial = remember(partialSources, `${table} ${columns.join(" ")}`, () => {
    const source = createSource(table);
    const shape = Object.entries((tables[table] as Table).record.shape);
    const read = shape.filter(([name]) => columns.includes(name) || source.key.includes(name));
    return { ...source, codec: createCodec(z.object(Object.fromEntries(read))) };
  });
  return partial as unknown as Source<Row<T>>;
}

export const auditSource: Source<AuditEntry> = {
  name: "audit",
  key: ["auditId"],
  codec: createCodec(AuditEntry.omit({ actorName: true, approverName: true })),
};

export const changeSource: Source<ChangeEntry> = {
  ...auditSource,
  codec: createCodec(
    AuditEntry.pick({
      auditId: true,
      occurredAt: true,
      entityType: true,
      entityId: true,
      programId: true,
      submissionId: true,
    }).extend({ commitNumber: z.int() }),
  ),
};

export const eventSource: Source<LogEntry> = {
  name: "eventLog",
  key: ["eventId"],
  codec: createCodec(LogEntry),
};

export const tokenCodec = createCodec(Token);

/**
 * A query that is compiled once and run with parameters in the order of its placeholders. Rows are arrays of column
 * values, because building objects takes as long as reading the rows.
 */
export interface PreparedStatement {
  (db: Db, ...parameters: readonly unknown[]): Promise<QueryResult<readonly unknown[]>>;
  readonly sql: string;
}

/** The form in which a prepared query reaches the connection. */
export interface PreparedQuery extends CompiledQuery {
  /** Identifies the query. A connection caches its statement by this object. */
  readonly prepared: object;
  /** False for one of many queries: a server keeps a named statement as long as the connection. */
  readonly named?: false;
}

export function prepareQuery(query: Compilable): PreparedStatement {
  const compiled = query.compile();
  const { query: node, queryId, sql } = compiled;
  const run = (db: Db, ...parameters: readonly unknown[]) => {
    const prepared: PreparedQuery = { query: node, queryId, sql, parameters, prepared: compiled };
    return (held.get(db) ?? db).executeQuery<readonly unknown[]>(prepared);
  };
  return Object.assign(run, { sql });
}

const held = new WeakMap<Db, DatabaseConnection>();

/**
 * Reserves the connection of a side or transaction for prepared queries. Acquiring it for each of them costs as much
 * as a point read.
 * @returns a function that releases it
 */
export async function holdConnection(db: Db): Promise<() => void> {
  held.set(db, await db.getExecutor().provideConnection(async (connection) => connection));
  return () => void held.delete(db);
}

/** The prepared statements of one database. */
export interface Statements {
  /** Selects a row by tenant and id. */
  get(source: Source<unknown>): PreparedStatement;
  /** Inserts a row, with its values in the order of the columns. */
  insert(table: string, columns: readonly string[]): PreparedStatement;
  /** Runs a query for many rows, each of which is the values of its columns in their order. */
  runForTuples(db: Db, query: Compilable): Promise<QueryResult<readonly unknown[]>>;
}

/** Queries for many rows whose statements are kept. */
const maxTupleQueries = 100;

export function createStatements(db: Db): Statements {
  const gets = new Map<string, PreparedStatement>();
  const inserts = new Map<string, PreparedStatement>();
  const tupleQueries = new LRUCache<string, object>({ max: maxTupleQueries, memoMethod: (sql) => ({ sql }) });
  return {
    runForTuples(on, query) {
      const compiled = query.compile();
      const prepared: PreparedQuery = { ...compiled, prepared: tupleQueries.memo(compiled.sql), named: false };
      return on.executeQuery(prepared);
    },
    get: ({ name, key: [id, revision], codec }) =>
      remember(gets, name, () => {
        const byId = db
          .selectFrom(name)
          .select([...codec.names])
          .where("businessId", "=", "")
          .where(id, "=", "");
        return prepareQuery(revision === undefined ? byId : byId.orderBy(revision, "desc").limit(sql.lit(1)));
      }),
    insert: (table, columns) =>
      remember(inserts, table, () =>
        prepareQuery(db.insertInto(table).values(Object.fromEntries(columns.map((column) => [column, ""])))),
      ),
  };
}

interface Known<V> {
  get(key: string): V | undefined;
  set(key: string, value: V): unknown;
}

function remember<V>(known: Known<V>, key: string, make: () => V): V {
  const value = known.get(key) ?? make();
  known.set(key, value);
  return value;
}
