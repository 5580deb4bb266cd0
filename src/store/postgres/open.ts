import { Kysely, sql } from "kysely";
import type { Database, Db, PreparedStatement } from "../database.ts";
import { type Engine, getAdapter, type Transact } from "../engine.ts";
import type { Stored } from "../queries/codec.ts";

import { PostgresDialect } from "./dialect.ts";
import { findServers, type LookSettings } from "./inspect.ts";
import { createOutage } from "./outage.ts";
import { type OpenPool, openPool, type PoolOptions, statementTimeoutMs } from "./pools.ts";
import { createPrimaryGuard } from "./primary.ts";
import { createProbe } from "./probe.ts";
import { findMissingRights } from "./rights.ts";
import { createTransact, createTransactInTurn } from "./transact.ts";
import { watchPrimary } from "./watch.ts";

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
  const guard = createPrimaryGuard();
  const { servers, letters } = await findServers(pg, { ...settings, guard });
  const options: PoolOptions = { servers, guard, maxConnections, pooler, outage: createOutage(log) };
  const open = (own: Partial<PoolOptions>) => openPool(pg, { ...options, ...own });
  // Transactions wait for each other. Reads must not wait with them.
  const writes = open({ maxConnections: Math.floor(maxConnections / 2) });
  const reads = open({ maxConnections: Math.ceil(maxConnections / 2) });
  const createDatabase = ({ connect }: OpenPool, begin: string) =>
    new Kysely<Database>({ dialect: new PostgresDialect({ connect, guard, begin, letters, names: !pooler }) });
  const begin = formatBegin(busyTimeoutMs, statementTimeoutMs);
  const [write, read] = [createDatabase(writes, begin), createDatabase(reads, begin)];
  const transact = createTransact(write, busyTimeoutMs);
  const inTurn = createTransactInTurn(write, transact, busyTimeoutMs);
  // Beside the reads that depend on it: those that write may all be waiting for a standby.
  const transactRelaxed = createTransact(createDatabase(reads, `${begin}; ${relaxed}`), busyTimeoutMs);
  const stopWatching = watchPrimary(pg, { ...options, each: servers.each }, () => writes.isOpen() || reads.isOpen());

  async function runAll(statement: PreparedStatement, rows: readonly (readonly Stored[])[]): Promise<void> {
    for (let start = 0; start < rows.length; start += rowsPerCommit) {
      const batch = rows.slice(start, start + rowsPerCommit);
      await transactRelaxed((db) => runEach(db, statement, batch));
    }
  }

  async function runAside<R>(begin: string, work: (db: Db) => Promise<R>): Promise<R> {
    const connections = open({ maxConnections: 1, patient: true });
    try {
      return await work(createDatabase(connections, begin));
    } finally {
      await connections.end();
    }
  }

  return {
    write,
    read,
    transact,
    transactRelaxed,
    inTurn,
    alone: (work) =>
      runAside(formatBegin(migrationMs, 0), (db) => runExclusivelyIn(db, createTransact(db, migrationMs), work)),
    snapshot: (work) => runAside(beginSnapshot, (db) => db.transaction().execute(work)),
    runAll,
    missingRights: (needed) => findMissingRights(read, needed),
    probe: createProbe(reads, inTurn),
    async close() {
      stopWatching();
      await Promise.all([writes.end(), reads.end()]);
    },
  };
}

/** What is waited for is the disk of the primary, and no standby. */
const relaxed = "set local synchronous_commit = local";
const beginSnapshot = [
  "begin isolation level repeatable read read only",
  "set local statement_timeout = 0",
  "set local idle_in_transaction_session_timeout = 0",
].join("; ");

function formatBegin(lockTimeoutMs: number, statementTimeoutMs: number): string {
  return [
    "begin",
    `set local lock_timeout = ${lockTimeoutMs}`,
    `set local statement_timeout = ${statementTimeoutMs}`,
    `set local idle_in_transaction_session_timeout = ${idleInTransactionMs}`,
  ].join("; ");
}

/** One row that whoever migrates holds. Its table comes before all migrations. */
async function runExclusivelyIn<R>(db: Db, transact: Transact, work: (db: Db) => Promise<R>): Promise<R> {
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
  if (await getAdapter(db).exists(db, lockTable)) return;
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

async function runEach(db: Db, statement: PreparedStatement, rows: readonly (readonly Stored[])[]): Promise<void> {
  await Promise.all(rows.map((row) => statement(db, ...row)));
}
