import type { DialectAdapter, Expression, RawBuilder, SelectQueryBuilder } from "kysely";
import type { Database, Db, PreparedStatement } from "./database.ts";
import type { DatabaseState, DiskState } from "./port.ts";
import type { Stored } from "./queries/codec.ts";
import type { SchemaQueries, StoredTable } from "./schema/schema-introspection.ts";
import type { FullTextIndex } from "./search/full-text-index.ts";
import { prepareCommitSequence } from "./tenant-sequence.ts";

/**
 * Runs work in one transaction. It commits when the work resolves and rolls back when it throws. The work runs again
 * when the database aborts the transaction because of a conflict.
 * @throws Problem `unavailable` when it waits for too long, or the database cannot be reached
 */
export type Transact = <R>(work: (db: Db) => Promise<R>) => Promise<R>;

/**
 * Runs work on the records of one tenant in a transaction. The transactions of a tenant run one after the other,
 * across all processes, and are numbered in the order of their commits.
 */
export type TransactSerially = <R>(
  businessId: string,
  work: (db: Db, commitNumber: number) => Promise<R>,
) => Promise<R>;

/** A database as the store uses it. */
export interface Engine {
  /** Runs statements and transactions that write. */
  readonly write: Db;
  /** Runs statements that read. May be the same object as `write`. */
  readonly read: Db;
  /**
   * Returns the database to read many rows of a tenant from: a replica that has all commits of the tenant so far, or
   * `read`. Absent if there are no replicas.
   */
  readonly chooseRead?: (businessId: string) => Promise<Db>;
  readonly transact: Transact;
  /**
   * Runs a transaction whose loss is acceptable. It does not wait for a standby and does not take connections from
   * other transactions. A failover may lose it.
   */
  readonly transactRelaxed: Transact;
  readonly transactSerially: TransactSerially;
  /** Runs work of any duration in a transaction, while no other process does the same. */
  readonly transactExclusively: <R>(work: (db: Db) => Promise<R>) => Promise<R>;
  /** Runs reads of any duration. They see the data as it was committed when the work began. */
  readonly snapshot: <R>(work: (db: Db) => Promise<R>) => Promise<R>;
  /** Returns a value that changes with each commit of any process. Absent if the database has no such value. */
  readonly revision?: () => Promise<unknown>;
  /** Returns the statement that grants the role what it lacks. Absent if the database has no roles. */
  readonly missingRights?: (needed: { readonly makesTables: boolean }) => Promise<string | undefined>;
  /** Returns whether the disk takes changes. Absent unless the database is a file. */
  readonly checkDisk?: () => Promise<DiskState>;
  /**
   * Runs a statement once for each row of parameters, in several relaxed transactions. A failure may leave some rows
   * written, so it must be safe to run the statement again.
   */
  runAll(statement: PreparedStatement, rows: readonly (readonly Stored[])[]): Promise<void>;
  /**
   * Checks the state that can be seen without a table.
   * @throws Error when the database cannot be reached
   */
  readonly probe?: () => Promise<DatabaseState>;
  close(): Promise<void>;
}

/** Returns an engine whose transactions are part of one open transaction. */
export function createNestedEngine(db: Db): Engine {
  const within: Transact = (work) => work(db);
  const takeCommitNumber = prepareCommitSequence(db);
  return {
    write: db,
    read: db,
    transact: within,
    transactRelaxed: within,
    transactSerially: async (businessId, work) => work(db, await takeCommitNumber(db, businessId)),
    transactExclusively: within,
    snapshot: within,
    async runAll(statement, rows) {
      for (const row of rows) await statement(db, ...row);
    },
    close: async () => undefined,
  };
}

/** The parts of statements that differ between databases. */
export interface EngineAdapter extends DialectAdapter {
  /** Transactions write concurrently, so each must lock the rows that it selects. */
  readonly locksRows: boolean;
  exists(db: Db, table: string): Promise<boolean>;
  /** Lower-cases text as JavaScript's `toLowerCase` does. */
  lower(text: Expression<unknown>): RawBuilder<string>;
  /** Returns a table expression with a row for each text, in its column `value`. */
  listValues(texts: readonly string[]): RawBuilder<{ value: string }>;
  readonly fullTextIndex: FullTextIndex;
  /** Queries that list the tables and columns of the database, without those of the full-text index. */
  readonly schemaQueries: SchemaQueries;
  /**
   * Disables foreign key checks from this transaction on.
   * @returns the statements that restore them
   */
  suspendReferences(db: Db): Promise<readonly string[]>;
  /**
   * Restores foreign key checks.
   * @throws Error when a row refers to a missing row
   */
  restoreReferences(db: Db, statements: readonly string[]): Promise<void>;
  /** Inserts rows, each with its values in the order of the table's columns. */
  insertAll(db: Db, table: StoredTable, rows: readonly (readonly Stored[])[]): Promise<void>;
}

export function getAdapter(db: Db): EngineAdapter {
  return db.getExecutor().adapter as EngineAdapter;
}

type Select<Output> = SelectQueryBuilder<Database, string, Output>;

/** Locks the selected rows until the transaction ends. */
export function forUpdate<Output>(db: Db, query: Select<Output>): Select<Output> {
  return getAdapter(db).locksRows ? query.forUpdate() : query;
}

/**
 * Locks the selected rows, and skips rows that another transaction has locked. `of` limits the lock to one table of a
 * join.
 */
export function skipLocked<Output>(db: Db, query: Select<Output>, of?: string): Select<Output> {
  return getAdapter(db).locksRows ? query.forUpdate(of).skipLocked() : query;
}
