import { DatabaseSync, type SQLInputValue, type StatementSync } from "node:sqlite";
import { setImmediate as yieldToEvents } from "node:timers/promises";
import {
  type CompiledQuery,
  type DatabaseConnection,
  type Dialect,
  type Driver,
  type Expression,
  type QueryResult,
  type RawBuilder,
  SqliteAdapter,
  SqliteIntrospector,
  SqliteQueryCompiler,
  sql,
} from "kysely";
import { LRUCache } from "lru-cache";
import { problem } from "../../contract/errors.ts";
import { type Db, type PreparedQuery, prepareQuery } from "../database.ts";
import type { EngineAdapter } from "../engine.ts";
import { Mutex } from "../mutex.ts";
import type { Stored } from "../queries/codec.ts";
import { retry } from "../retry.ts";
import { type StoredTable, sqliteCatalogue } from "../schema/schema-introspection.ts";
import { fts5Index } from "./fts5-index.ts";

export interface SqliteOptions {
  /** Path of an existing file, or `:memory:`. */
  readonly path: string;
  /** `write` runs transactions, one at a time, and single statements. `read` runs statements that change nothing. */
  readonly role: "write" | "read";
  /** Disables foreign key checks. */
  readonly unchecked?: boolean;
  /** Time to wait for a transaction of this or another process. */
  readonly busyTimeoutMs: number;
  /** Called when the disk has failed a commit. */
  readonly onDiskFailure?: () => void;
}

/** Returns a Kysely dialect for Node's own SQLite, with one connection. */
export function createSqliteDialect(options: SqliteOptions): Dialect {
  return {
    createDriver: () => new SqliteDriver(options),
    createQueryCompiler: () => new SqliteQueryCompiler(),
    createAdapter: (): EngineAdapter => new Adapter(),
    createIntrospector: (db) => new SqliteIntrospector(db),
  };
}

// The driver below queues transactions itself, with a timeout.
class Adapter extends SqliteAdapter implements EngineAdapter {
  readonly locksRows = false;
  readonly fullTextIndex = fts5Index;
  readonly schemaQueries = sqliteCatalogue;

  async exists(db: Db, table: string): Promise<boolean> {
    const found = await sql`select 1 from sqlite_master where type = 'table' and name = ${table}`.execute(db);
    return found.rows.length > 0;
  }

  /** The driver replaces SQLite's own `lower` by its own. */
  lower(text: Expression<unknown>): RawBuilder<string> {
    return sql<string>`lower(${text})`;
  }

  listValues(texts: readonly string[]): RawBuilder<{ value: string }> {
    return sql`json_each(${JSON.stringify(texts)})`;
  }

  /** Foreign key checks are a setting of the connection: see `unchecked`. */
  async suspendReferences(): Promise<readonly string[]> {
    return [];
  }

  async restoreReferences(db: Db): Promise<void> {
    const [broken] = (await sql<{ table: string }>`pragma foreign_key_check`.execute(db)).rows;
    if (broken) throw new Error(`A row of ${broken.table} refers to a missing row`);
  }

  async insertAll(db: Db, { name, columns }: StoredTable, rows: readonly (readonly Stored[])[]): Promise<void> {
    const values = Object.fromEntries(columns.map((column) => [column.name, null]));
    const insert = prepareQuery(db.insertInto(name).values(values));
    for (const row of rows) await insert(db, ...row);
  }

  override get supportsMultipleConnections(): boolean {
    return true;
  }

  override get supportsTransactionalDdl(): boolean {
    return true;
  }
}

class SqliteDriver implements Driver {
  readonly #options: SqliteOptions;
  readonly #mutex: Mutex | undefined;
  #session: Session | undefined;

  constructor(options: SqliteOptions) {
    this.#options = options;
    this.#mutex = options.role === "write" ? new Mutex(options.busyTimeoutMs) : undefined;
  }

  async init(): Promise<void> {
    const { path, role, unchecked = false, busyTimeoutMs } = this.#options;
    const db = new DatabaseSync(path, { timeout: busyTimeoutMs });
    try {
      await retryWhileBusy(busyTimeoutMs, () => db.exec("PRAGMA journal_mode = WAL"));
      db.exec(`PRAGMA synchronous = FULL; PRAGMA foreign_keys = ${unchecked ? "OFF" : "ON"}`);
      // The writer waits asynchronously instead (see `retryWhileBusy`).
      db.exec(role === "read" ? "PRAGMA query_only = ON" : "PRAGMA busy_timeout = 5");
      // SQLite's own function converts ASCII only.
      db.function("lower", { deterministic: true }, (value) => (value === null ? null : String(value).toLowerCase()));
    } catch (error) {
      db.close();
      throw error;
    }
    // A reader has already waited in SQLite when the busy error reaches it.
    this.#session = new Session(db, role === "write" ? busyTimeoutMs : 0);
  }

  async acquireConnection(): Promise<DatabaseConnection> {
    await this.#mutex?.acquire();
    return this.#open();
  }

  async beginTransaction(): Promise<void> {
    const session = this.#open();
    await retryWhileBusy(this.#options.busyTimeoutMs, () => session.begin());
  }

  async commitTransaction(): Promise<void> {
    try {
      this.#open().commit();
    } catch (error) {
      if (error instanceof Error && getPrimaryCode(error.cause) === ioError) this.#options.onDiskFailure?.();
      throw error;
    }
  }

  async rollbackTransaction(): Promise<void> {
    this.#open().rollback();
  }

  async releaseConnection(): Promise<void> {
    this.#mutex?.release();
  }

  async destroy(): Promise<void> {
    await this.#mutex?.acquire();
    this.#session?.close();
    this.#session = undefined;
    this.#mutex?.release();
  }

  #open(): Session {
    if (!this.#session) throw new Error("The database is closed");
    return this.#session;
  }
}

const maxStatements = 500;
/** A transaction with many statements yields to other requests after so many. */
const statementsPerTurn = 50;

interface Statement {
  readonly statement: StatementSync;
  readonly answersRows: boolean;
}

class Session implements DatabaseConnection {
  readonly #db: DatabaseSync;
  readonly #statements = new LRUCache<string, Statement>({ max: maxStatements });
  /** Statements of prepared queries, whose number is bounded. */
  #preparedStatements = new WeakMap<object, Statement>();
  readonly #busyTimeoutMs: number;
  #begun = false;
  /** Identifies the transaction. */
  #transactions = 0;
  #statementsInTurn = 0;

  /** @param busyTimeoutMs - time that a statement outside a transaction waits for another process's transaction */
  constructor(db: DatabaseSync, busyTimeoutMs: number) {
    this.#db = db;
    this.#busyTimeoutMs = busyTimeoutMs;
  }

  begin(): void {
    // A failed rollback may have left a transaction open, in which a relaxed one could not restore the setting.
    if (this.#db.isTransaction) this.#db.exec("ROLLBACK; PRAGMA synchronous = FULL");
    this.#db.exec("BEGIN IMMEDIATE");
    this.#begun = true;
    this.#transactions += 1;
    this.#statementsInTurn = 0;
  }

  commit(): void {
    this.#assertBegun();
    try {
      this.#db.exec("COMMIT");
    } catch (error) {
      throw translateError(error);
    }
    this.#begun = false;
  }

  /**
   * Rolls back, and never throws: the error that made the transaction fail is more useful than one of the rollback.
   */
  rollback(): void {
    this.#begun = false;
    try {
      // After some errors SQLite has already rolled back.
      if (this.#db.isTransaction) this.#db.exec("ROLLBACK");
    } catch {
      // The next `begin` rolls back again.
    }
  }

  async executeQuery<R>(query: CompiledQuery | PreparedQuery): Promise<QueryResult<R>> {
    if (this.#begun && ++this.#statementsInTurn > statementsPerTurn) await this.#yieldTurn();
    this.#assertBegun();
    try {
      return this.#run(query);
    } catch (error) {
      // A statement outside a transaction is a transaction of its own, and waits like one.
      if (isBusy(error) && !this.#begun) return retryWhileBusy(this.#busyTimeoutMs, () => this.#run(query));
      throw translateError(error);
    }
  }

  async *streamQuery<R>(query: CompiledQuery): AsyncIterableIterator<QueryResult<R>> {
    // Not cached: a cached statement could be run again before its rows are read to the end.
    const statement = this.#db.prepare(query.sql);
    for (const row of statement.iterate(...query.parameters.map(toBindable))) yield { rows: [row as R] };
  }

  close(): void {
    this.#statements.clear();
    this.#preparedStatements = new WeakMap();
    this.#db.close();
  }

  #run<R>(query: CompiledQuery | PreparedQuery): QueryResult<R> {
    const { statement, answersRows } = "prepared" in query ? this.#getStatement(query) : this.#prepare(query.sql);
    const values = query.parameters.map(toBindable);
    if (answersRows) return { rows: statement.all(...values) as R[] };
    const { changes } = statement.run(...values);
    return { rows: [], numAffectedRows: BigInt(changes) };
  }

  async #yieldTurn(): Promise<void> {
    const transaction = this.#transactions;
    await yieldToEvents();
    // A statement whose transaction has ended must not run on its own.
    if (!this.#begun || transaction !== this.#transactions) throw new Error("The transaction has ended");
    this.#statementsInTurn = 0;
  }

  // Fails when SQLite has already rolled back. Otherwise the remaining statements of the transaction would commit one
  // by one.
  #assertBegun(): void {
    if (this.#begun && !this.#db.isTransaction) throw new Error("The database has rolled the transaction back");
  }

  #getStatement({ prepared, sql }: PreparedQuery): Statement {
    let statement = this.#preparedStatements.get(prepared);
    if (!statement) {
      statement = prepareStatement(this.#db, sql);
      statement.statement.setReturnArrays(true);
      this.#preparedStatements.set(prepared, statement);
    }
    return statement;
  }

  #prepare(sql: string): Statement {
    let statement = this.#statements.get(sql);
    if (!statement) {
      statement = prepareStatement(this.#db, sql);
      this.#statements.set(sql, statement);
    }
    return statement;
  }
}

function prepareStatement(db: DatabaseSync, sql: string): Statement {
  const statement = db.prepare(sql);
  return { statement, answersRows: statement.columns().length > 0 };
}

function toBindable(value: unknown): SQLInputValue {
  return typeof value === "boolean" ? Number(value) : (value as SQLInputValue);
}

/** Retries work that another process's transaction blocks, without blocking this process. */
async function retryWhileBusy<R>(timeoutMs: number, work: () => R): Promise<R> {
  try {
    const getLimitMs = (error: unknown) => (isBusy(error) ? timeoutMs : 0);
    return await retry(work, { firstPauseMs: 1, maxPauseMs: 25, getLimitMs });
  } catch (error) {
    throw translateError(error);
  }
}

/** SQLite result codes of temporary errors (https://sqlite.org/rescode.html). */
const [busy, locked, ioError, full] = [5, 6, 10, 13];
const diskTroubles = new Map([
  [ioError, "The database's disk fails."],
  [full, "The database's disk is full."],
]);

function translateError(error: unknown): unknown {
  if (isBusy(error)) return createUnavailable(error);
  const trouble = diskTroubles.get(getPrimaryCode(error) ?? 0);
  return trouble === undefined ? error : createUnavailable(error, { retryAfterSeconds: 60, message: trouble });
}

function isBusy(error: unknown): boolean {
  const code = getPrimaryCode(error);
  return code === busy || code === locked;
}

function getPrimaryCode(error: unknown): number | undefined {
  return error instanceof Error && "errcode" in error ? Number(error.errcode) & 0xff : undefined;
}

interface Refusal {
  readonly retryAfterSeconds: number;
  readonly message?: string;
}

function createUnavailable(cause: unknown, { retryAfterSeconds, message }: Refusal = { retryAfterSeconds: 1 }): Error {
  return Object.assign(problem("unavailable", { retryAfterSeconds }, message), { cause });
}
