import { Kysely, sql } from "kysely";
import type { Stored } from "../codec.ts";
import type { Database, Db, Prepared } from "../database.ts";
import { adapterOf, type Engine, type Transact } from "../engine.ts";

import { PostgresDialect } from "./dialect.ts";
import { findServers, type LookSettings } from "./look.ts";
import { createOutage, openPool, type PoolOptions, statementTimeoutMs } from "./pools.ts";
import { missingRights } from "./rights.ts";
import { createTransact, createTransactInTurn } from "./transact.ts";

export interface PostgresSettings extends LookSettings {
  /** How long a transaction waits for another one before it is refused as `unavailable`. */
  readonly busyTimeoutMs: number;
  /** Connections of this process at once. */
  readonly maxConnections: number;
}

/** A transaction whose process has vanished must not hold up others for longer. */
const idleInTransactionMs = 15_000;
/** How long one process waits for another to migrate. */
const migrationMs = 600_000;
/** Other writers need not wait for more than these. */
const rowsPerCommit = 1_000;

/**
 * Connects to a database.
 * @throws Error that says what is wrong with the address, without the password
 */
export async function openPostgres(settings: PostgresSettings): Promise<Engine> {
  const { busyTimeoutMs, maxConnections, pooler, log } = settings;
  const { default: pg } = await import("pg");
  const { servers, letters } = await findServers(pg, settings);
  const options: PoolOptions = { servers, maxConnections, pooler, outage: createOutage(log) };
  const open = (pool: PoolOptions, begin = beginning(busyTimeoutMs, statementTimeoutMs)) => {
    const dialect = new PostgresDialect({ pool: openPool(pg, pool), begin, letters, names: !pooler });
    return new Kysely<Database>({ dialect });
  };
  const side = (maxConnections: number) => open({ ...options, maxConnections });
  // Transactions wait for each other. Reads must not wait with them.
  const writes = Math.floor(maxConnections / 2);
  const [write, read] = [side(writes), side(maxConnections - writes)];
  const transact = createTransact(write, busyTimeoutMs);

  async function runAll(statement: Prepared, rows: readonly (readonly Stored[])[]): Promise<void> {
    for (let start = 0; start < rows.length; start += rowsPerCommit) {
      const batch = rows.slice(start, start + rowsPerCommit);
      await transact((db) => runEach(db, statement, batch));
    }
  }

  async function alone<R>(work: (db: Db) => Promise<R>): Promise<R> {
    const db = open({ ...options, maxConnections: 1, patient: true }, beginning(migrationMs, 0));
    try {
      return await aloneIn(db, createTransact(db, migrationMs), work);
    } finally {
      await db.destroy();
    }
  }

  async function snapshot<R>(work: (db: Db) => Promise<R>): Promise<R> {
    const patient = "set local statement_timeout = 0; set local idle_in_transaction_session_timeout = 0";
    const begin = `begin isolation level repeatable read read only; ${patient}`;
    const db = open({ ...options, maxConnections: 1, patient: true }, begin);
    try {
      return await db.transaction().execute(work);
    } finally {
      await db.destroy();
    }
  }

  return {
    write,
    read,
    transact,
    inTurn: createTransactInTurn(write, transact, busyTimeoutMs),
    alone,
    snapshot,
    runAll,
    missingRights: (needed) => missingRights(read, needed),
    async close() {
      await Promise.all([write.destroy(), read.destroy()]);
    },
  };
}

function beginning(lockTimeoutMs: number, statementTimeoutMs: number): string {
  return [
    "begin",
    `set local lock_timeout = ${lockTimeoutMs}`,
    `set local statement_timeout = ${statementTimeoutMs}`,
    `set local idle_in_transaction_session_timeout = ${idleInTransactionMs}`,
  ].join("; ");
}

/** One row that whoever migrates holds. Its table comes before all migrations. */
async function aloneIn<R>(db: Db, transact: Transact, work: (db: Db) => Promise<R>): Promise<R> {
  await createLock(db);
  return transact(async (transaction) => {
    const lock = transaction.insertInto(lockTable).values({ name: "migrations", holders: 1 });
    await lock
      .onConflict((conflict) =>
        conflict.column("name").doUpdateSet({ holders: sql`${sql.ref(`${lockTable}.holders`)} + 1` }),
      )
      .execute();
    return work(transaction);
  });
}

const lockTable = "migrationLock";
/** What PostgreSQL says where two make a table at once. */
const madeAlready = ["23505", "42P07"];

async function createLock(db: Db): Promise<void> {
  if (await adapterOf(db).exists(db, lockTable)) return;
  try {
    await db.schema
      .createTable(lockTable)
      .ifNotExists()
      .addColumn("name", "text", (column) => column.primaryKey())
      .addColumn("holders", "bigint", (column) => column.notNull())
      .execute();
  } catch (error) {
    if (!madeAlready.includes((error as { code?: string }).code ?? "")) throw error;
  }
}

async function runEach(db: Db, statement: Prepared, rows: readonly (readonly Stored[])[]): Promise<void> {
  await Promise.all(rows.map((row) => statement(db, ...row)));
}
