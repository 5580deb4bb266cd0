import type { DialectAdapter, Expression, RawBuilder, SelectQueryBuilder } from "kysely";
import type { Database, Db, PreparedStatement } from "./database.ts";
import type { DatabaseState } from "./port.ts";
import type { Stored } from "./queries/codec.ts";
import type { SchemaQueries, StoredTable } from "./schema/schema-introspection.ts";
import { prepareCommitSequence } from "./tenant-sequence.ts";

/**
 * Runs work in one transaction: it commits when the work resolves and undoes everything when it throws. Where the
 * database gives a transaction up for another one's sake the work is run again.
 *
 * @throws Problem `unavailable` when it waits for too long, or the database cannot be reached
 */
export type Transact = <R>(work: (db: Db) => Promise<R>) => Promise<R>;

/**
 * The same for work on the records of one tenant: no two such transactions of a tenant run at once, in whichever
 * process, so that what is read stays so until the end. They are numbered in the order of their commits.
 */
export type TransactInTurn = <R>(businessId: string, work: (db: Db, turn: number) => Promise<R>) => Promise<R>;

/** A database as the store stands on it. */
export interface Engine {
  /** For statements and transactions that write. */
  readonly write: Db;
  /** For statements that read. May be the same. */
  readonly read: Db;
  readonly transact: Transact;
  /**
   * The same for what nobody would miss: it waits for no standby, and takes no connection from transactions that do. A
   * failover may lose it.
   */
  readonly transactRelaxed: Transact;
  readonly inTurn: TransactInTurn;
  /** Runs work in a transaction as long as it takes, while no other process does the same. */
  readonly alone: <R>(work: (db: Db) => Promise<R>) => Promise<R>;
  /** Runs work that reads, as long as it takes: what it sees is as it was committed when it began. */
  readonly snapshot: <R>(work: (db: Db) => Promise<R>) => Promise<R>;
  /** Another value after each commit, of whichever process, where there is such a one. */
  readonly revision?: () => Promise<unknown>;
  /** The statement by which a role is given what it lacks, where the database has roles and this one lacks something. */
  readonly missingRights?: (needed: { readonly makesTables: boolean }) => Promise<string | undefined>;
  /** Whether the disk has room for changes, where the database is a file. */
  readonly hasRoom?: () => Promise<boolean>;
  /**
   * Runs a statement with each of these parameters, in as many relaxed transactions as it takes. When it fails some may
   * be written: the statement must bear to be run again.
   */
  runAll(statement: PreparedStatement, rows: readonly (readonly Stored[])[]): Promise<void>;
  /**
   * Looks at what can be seen without a table.
   * @throws Error when the database is not there
   */
  readonly probe?: () => Promise<DatabaseState>;
  close(): Promise<void>;
}

/** An engine whose transactions are all parts of one that is open. */
export function createNestedEngine(db: Db): Engine {
  const within: Transact = (work) => work(db);
  const takeTurn = prepareCommitSequence(db);
  return {
    write: db,
    read: db,
    transact: within,
    transactRelaxed: within,
    inTurn: async (businessId, work) => work(db, await takeTurn(db, businessId)),
    alone: within,
    snapshot: within,
    async runAll(statement, rows) {
      for (const row of rows) await statement(db, ...row);
    },
    close: async () => undefined,
  };
}

/** In what statements depend on the database. */
export interface EngineAdapter extends DialectAdapter {
  /** Whether transactions write at once, so that each must keep others from the rows that it has chosen. */
  readonly locksRows: boolean;
  exists(db: Db, table: string): Promise<boolean>;
  /** Text as `toLowerCase` of JavaScript makes it. */
  lower(text: Expression<unknown>): RawBuilder<string>;
  /** How the database tells what tables it has. */
  readonly schemaQueries: SchemaQueries;
  /** Leaves references between tables unchecked in this transaction and after; gives what brings them back. */
  suspendReferences(db: Db): Promise<readonly string[]>;
  /** @throws Error where a row refers to one that is not there */
  restoreReferences(db: Db, statements: readonly string[]): Promise<void>;
  /** Inserts many rows, whose values are in the order of the table's columns. */
  insertAll(db: Db, table: StoredTable, rows: readonly (readonly Stored[])[]): Promise<void>;
}

export function getAdapter(db: Db): EngineAdapter {
  return db.getExecutor().adapter as EngineAdapter;
}

type Select<Output> = SelectQueryBuilder<Database, string, Output>;

/** Keeps the rows that a query in a transaction gives from others until it ends; of several tables, one's. */
export function forUpdate<Output>(db: Db, query: Select<Output>, of?: string): Select<Output> {
  return getAdapter(db).locksRows ? query.forUpdate(of) : query;
}

/** The same, passing over rows that another transaction holds. */
export function skipLocked<Output>(db: Db, query: Select<Output>, of?: string): Select<Output> {
  return getAdapter(db).locksRows ? query.forUpdate(of).skipLocked() : query;
}
