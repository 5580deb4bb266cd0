import { DatabaseSync, type SQLInputValue, type StatementSync } from "node:sqlite";
import { setImmediate as yieldToEvents } from "node:timers/promises";
import type { CompiledQuery, DatabaseConnection, QueryResult } from "kysely";
import { LRUCache } from "lru-cache";
import { problem } from "../../contract/errors.ts";
import { retry } from "../../lib/retry.ts";
import type { PreparedQuery } from "../database.ts";
import { openWriteAheadLog, type WriteAheadLog } from "./write-ahead-log.ts";

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

/**
 * With SQLite's own 2 MB, a bulk change writes pages to the log and reads them back before its commit: 500 assignments
 * then take a quarter longer.
 */
const writeCacheKiB = 32_768;

/**
 * Opens a connection, and the log of one that writes.
 * @throws Error if the file is not a database or cannot be opened, Problem `unavailable`
 */
export async function openConnection({ path, role, unchecked = false, busyTimeoutMs, onDiskFailure }: SqliteOptions) {
  const db = new DatabaseSync(path, { timeout: busyTimeoutMs });
  try {
    const setMode = () => db.prepare("PRAGMA journal_mode = WAL").get() as { journal_mode: string };
    const mode = (await retryWhileBusy(busyTimeoutMs, setMode)).journal_mode;
    // A file system without shared memory has no such log. SQLite then waits for the disk itself.
    const log = role === "write" && mode === "wal" ? await openLog(db, onDiskFailure) : undefined;
    db.exec(`PRAGMA synchronous = ${log ? "NORMAL" : "FULL"}; PRAGMA foreign_keys = ${unchecked ? "OFF" : "ON"}`);
    // The writer waits asynchronously instead (see `retryWhileBusy`).
    db.exec(role === "read" ? "PRAGMA query_only = ON" : "PRAGMA busy_timeout = 5");
    if (role === "write") db.exec(`PRAGMA cache_size = -${writeCacheKiB}`);
    // SQLite's own function converts ASCII only.
    db.function("lower", { deterministic: true }, (value) => (value === null ? null : String(value).toLowerCase()));
    // A reader has already waited in SQLite when the busy error reaches it.
    return new SqliteConnection(db, role === "write" ? busyTimeoutMs : 0, log);
  } catch (error) {
    db.close();
    throw error;
  }
}

/** Opens the log of a connection. Its failures are `unavailable`. */
async function openLog(db: DatabaseSync, onDiskFailure = () => {}): Promise<WriteAheadLog> {
  const log = await openWriteAheadLog(db);
  return {
    ...log,
    sync: () =>
      log.sync().catch((error: unknown) => {
        onDiskFailure();
        throw createUnavailable(error, diskFails);
      }),
  };
}

const maxStatements = 500;
/** Transactions that have taken this long in a turn of the event loop yield to other requests. */
const maxTurnMs = 1;

interface Statement {
  readonly statement: StatementSync;
  readonly answersRows: boolean;
}

/** A connection, with its cached statements. */
export class SqliteConnection implements DatabaseConnection {
  /** Absent if SQLite waits for the disk itself, or nothing is written. */
  readonly log: WriteAheadLog | undefined;
  readonly #db: DatabaseSync;
  readonly #statements = new LRUCache<string, Statement>({ max: maxStatements });
  /** Statements of prepared queries, whose number is bounded. */
  #preparedStatements = new WeakMap<object, Statement>();
  readonly #busyTimeoutMs: number;
  #begun = false;
  /** Identifies the transaction. */
  #transactions = 0;
  /** Time of the first statement in this turn of the event loop. */
  #turnStartedMs: number | undefined;

  /** @param busyTimeoutMs - time that a statement outside a transaction waits for another process's transaction */
  constructor(db: DatabaseSync, busyTimeoutMs: number, log: WriteAheadLog | undefined) {
    this.#db = db;
    this.#busyTimeoutMs = busyTimeoutMs;
    this.log = log;
  }

  begin(): void {
    // A failed rollback may have left a transaction open.
    if (this.#db.isTransaction) this.#db.exec("ROLLBACK");
    this.#db.exec("BEGIN IMMEDIATE");
    this.#begun = true;
    this.#transactions += 1;
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
    if (this.#begun && this.#isTurnOver()) await this.#yieldTurn();
    this.#assertBegun();
    let result: QueryResult<R>;
    try {
      result = this.#run(query);
    } catch (error) {
      if (!isBusy(error) || this.#begun) throw translateError(error);
      result = await retryWhileBusy(this.#busyTimeoutMs, () => this.#run<R>(query));
    }
    // A statement outside a transaction is a transaction of its own.
    if (this.log && !this.#begun) await this.log.sync();
    return result;
  }

  async *streamQuery<R>(query: CompiledQuery): AsyncIterableIterator<QueryResult<R>> {
    // Not cached: a cached statement could be run again before its rows are read to the end.
    const statement = this.#db.prepare(query.sql);
    for (const row of statement.iterate(...query.parameters.map(toBindable))) yield { rows: [row as R] };
  }

  async close(): Promise<void> {
    this.#statements.clear();
    this.#preparedStatements = new WeakMap();
    this.#db.close();
    await this.log?.close();
  }

  #run<R>(query: CompiledQuery | PreparedQuery): QueryResult<R> {
    const { statement, answersRows } = "prepared" in query ? this.#getStatement(query) : this.#prepare(query.sql);
    const values = query.parameters.map(toBindable);
    if (answersRows) return { rows: statement.all(...values) as R[] };
    const { changes } = statement.run(...values);
    return { rows: [], numAffectedRows: BigInt(changes) };
  }

  // Measures across transactions, because one can follow the other in the same turn.
  #isTurnOver(): boolean {
    if (this.#turnStartedMs !== undefined) return performance.now() - this.#turnStartedMs > maxTurnMs;
    this.#startTurn();
    return false;
  }

  #startTurn(): void {
    this.#turnStartedMs = performance.now();
    setImmediate(() => {
      this.#turnStartedMs = undefined;
    });
  }

  async #yieldTurn(): Promise<void> {
    const transaction = this.#transactions;
    // Not behind other long work, as all other changes wait for this transaction.
    await yieldToEvents();
    this.#startTurn();
    // A statement whose transaction has ended must not run on its own.
    if (!this.#begun || transaction !== this.#transactions) throw new Error("The transaction has ended");
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

/** Pause after which a blocked transaction tries again at the latest. */
export const maxBusyPauseMs = 25;

/** Retries work that another process's transaction blocks, without blocking this process. */
export async function retryWhileBusy<R>(timeoutMs: number, work: () => R): Promise<R> {
  try {
    const getLimitMs = (error: unknown) => (isBusy(error) ? timeoutMs : 0);
    return await retry(work, { firstPauseMs: 1, maxPauseMs: maxBusyPauseMs, getLimitMs });
  } catch (error) {
    throw translateError(error);
  }
}

/** SQLite result codes of temporary errors (https://sqlite.org/rescode.html). */
const [busy, locked, ioError, full] = [5, 6, 10, 13];
const diskFails: Refusal = { retryAfterSeconds: 60, message: "The database's disk fails." };
const diskTroubles = new Map([
  [ioError, diskFails],
  [full, { retryAfterSeconds: 60, message: "The database's disk is full." }],
]);

function translateError(error: unknown): unknown {
  if (isBusy(error)) return createUnavailable(error);
  const trouble = diskTroubles.get(getPrimaryCode(error) ?? 0);
  return trouble === undefined ? error : createUnavailable(error, trouble);
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

/** Returns whether a commit failed because of the disk. */
export function isDiskFailure(error: unknown): boolean {
  return error instanceof Error && getPrimaryCode(error.cause) === ioError;
}
