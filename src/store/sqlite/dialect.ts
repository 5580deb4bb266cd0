import {
  type DatabaseConnection,
  type Dialect,
  type Driver,
  type Expression,
  type RawBuilder,
  SqliteAdapter,
  SqliteIntrospector,
  SqliteQueryCompiler,
  sql,
} from "kysely";
import { type Db, prepareQuery } from "../database.ts";
import type { EngineAdapter } from "../engine.ts";
import { Mutex } from "../mutex.ts";
import type { Stored } from "../queries/codec.ts";
import { type StoredTable, sqliteCatalogue } from "../schema/schema-introspection.ts";
import type { BatchWriter } from "./batch-writer.ts";
import { type Checkpoints, createCheckpoints } from "./checkpoints.ts";
import {
  isDiskFailure,
  maxBusyPauseMs,
  openConnection,
  retryWhileBusy,
  type SqliteConnection,
  type SqliteOptions,
} from "./connection.ts";
import { fts5Index } from "./fts5-index.ts";

/** Returns a Kysely dialect for Node's own SQLite, with one connection. */
export function createSqliteDialect(options: SqliteOptions): Dialect {
  return createDialect(new SqliteDriver(options));
}

/** Two dialects with one connection for writes. */
export interface WriteDialects {
  /** Its commits wait until the disk has them. */
  readonly write: Dialect;
  /** Its commits do not wait: a crash of the process does not lose them, a power failure may. */
  readonly relaxed: Dialect;
  /**
   * Resolves when the disk has all commits so far.
   * @throws Problem `unavailable`
   */
  confirm(): Promise<void>;
}

/** @param thread - moves commits from the log to the database; absent if there is no log */
export function createWriteDialects(options: Omit<SqliteOptions, "role">, thread?: BatchWriter): WriteDialects {
  const driver = new SqliteDriver({ ...options, role: "write" }, thread);
  return {
    write: createDialect(driver),
    relaxed: createDialect(createRelaxedDriver(driver)),
    confirm: () => driver.confirm(),
  };
}

function createDialect(driver: Driver): Dialect {
  return {
    createDriver: () => driver,
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

/** Returns a driver with the connection of another one, whose transactions do not wait for the disk. */
function createRelaxedDriver(driver: SqliteDriver): Driver {
  return {
    init: () => driver.init(),
    acquireConnection: () => driver.acquireConnection(),
    beginTransaction: () => driver.beginTransaction(),
    commitTransaction: () => driver.commitRelaxed(),
    rollbackTransaction: () => driver.rollbackTransaction(),
    releaseConnection: () => driver.releaseConnection(),
    destroy: () => driver.destroy(),
  };
}

/** Transactions that hold the lock of the file for longer, in milliseconds, leave others little chance to take it. */
const longTransactionMs = 10;
/** After long transactions of so many milliseconds, the lock stays free for a while. */
const maxHeldMs = 500;
/** Longer than the pause after which another process tries again. */
const lockFreeMs = maxBusyPauseMs + 5;

class SqliteDriver implements Driver {
  readonly #options: SqliteOptions;
  readonly #mutex: Mutex | undefined;
  readonly #checkpoints: Checkpoints | undefined;
  #opening: Promise<SqliteConnection> | undefined;
  #connection: SqliteConnection | undefined;
  #closing: Promise<void> | undefined;
  #beganAtMs = 0;
  /** The time for which long transactions have held the lock of the file since it was left free. */
  #heldMs = 0;

  constructor(options: SqliteOptions, thread?: BatchWriter) {
    this.#options = options;
    this.#mutex = options.role === "write" ? new Mutex(options.busyTimeoutMs) : undefined;
    this.#checkpoints = thread && createCheckpoints({ thread, pauseWrites: (work) => this.#pauseWrites(work) });
  }

  /** Opens the connection, if no dialect that shares it has done so. */
  async init(): Promise<void> {
    this.#opening ??= openConnection(this.#options).catch((error: unknown) => {
      // The next use tries again.
      this.#opening = undefined;
      throw error;
    });
    this.#connection = await this.#opening;
  }

  async acquireConnection(): Promise<DatabaseConnection> {
    await this.#mutex?.acquire();
    return this.#open();
  }

  async beginTransaction(): Promise<void> {
    const connection = this.#open();
    await retryWhileBusy(this.#options.busyTimeoutMs, () => connection.begin());
    this.#beganAtMs = performance.now();
  }

  async commitTransaction(): Promise<void> {
    await this.commitRelaxed();
    await this.#open().log?.sync();
  }

  /** Commits, and does not wait for the disk. */
  async commitRelaxed(): Promise<void> {
    const connection = this.#open();
    try {
      connection.commit();
    } catch (error) {
      if (isDiskFailure(error)) this.#options.onDiskFailure?.();
      throw error;
    }
    this.#addHeldTime();
    if (connection.log) this.#checkpoints?.handleCommit(connection.log.countPages());
  }

  async confirm(): Promise<void> {
    const { log } = this.#open();
    return log?.hasFailed() ? this.#pauseWrites(() => log.sync()) : log?.sync();
  }

  async rollbackTransaction(): Promise<void> {
    this.#open().rollback();
    this.#addHeldTime();
  }

  /** Another process only finds the lock of the file free by chance, so after long transactions it stays free for a while. */
  async releaseConnection(): Promise<void> {
    if (this.#heldMs < maxHeldMs) return this.#mutex?.release();
    this.#heldMs = 0;
    // The caller need not wait.
    setTimeout(() => this.#mutex?.release(), lockFreeMs);
  }

  #addHeldTime(): void {
    const heldMs = performance.now() - this.#beganAtMs;
    if (heldMs > longTransactionMs) this.#heldMs += heldMs;
  }

  /** Closes the connection once, also if several dialects share it: the wait for the disk may be longer than any other. */
  destroy(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    await this.#checkpoints?.close();
    await this.#pauseWrites(async () => {
      await this.#connection?.close();
      this.#connection = undefined;
    });
  }

  async #pauseWrites(work: () => Promise<void>): Promise<void> {
    await this.#mutex?.acquire();
    try {
      await work();
    } finally {
      this.#mutex?.release();
    }
  }

  #open(): SqliteConnection {
    if (!this.#connection) throw new Error("The database is closed");
    return this.#connection;
  }
}
