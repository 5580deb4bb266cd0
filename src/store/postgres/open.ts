import { Kysely, sql } from "kysely";
import type { Database, Db, PreparedStatement } from "../database.ts";
import { type Engine, getAdapter, type Transact } from "../engine.ts";
import type { Stored } from "../queries/codec.ts";

import { createPostgresDialect } from "./dialect.ts";
import { findServers, type InspectionSettings } from "./inspect.ts";
import { createOutage } from "./outage.ts";
import { type OpenPool, openPool, type PoolOptions, statementTimeoutMs } from "./pools.ts";
import { createPrimaryGuard } from "./primary.ts";
import { createProbe } from "./probe.ts";
import { openReplicas } from "./replicas.ts";
import { findMissingRights } from "./rights.ts";
import { createTransact, createTransactSerially } from "./transact.ts";
import { watchPrimary } from "./watch.ts";

export interface PostgresSettings extends InspectionSettings {
  /** Time that a transaction waits for another one before it fails with `unavailable`. */
  readonly busyTimeoutMs: number;
  /** Maximum number of connections of this process. */
  readonly maxConnections: number;
  /** A `postgres://…` address with all servers from which many rows may be read. */
  readonly replicas: string | undefined;
}

/** Ends transactions of processes that have disappeared, so that their locks do not block others. */
const idleInTransactionMs = 15_000;
/** Time that one process waits for another to migrate. */
const migrationMs = 600_000;
/** Limits how long other writers wait. */
const rowsPerCommit = 1_000;

/**
 * Connects to a database.
 * @throws Error with the problem of the address, without the password
 */
export async function openPostgres(settings: PostgresSettings): Promise<Engine> {
  const { busyTimeoutMs, maxConnections, pooler, log } = settings;
  const { default: pg } = await import("pg");
  const guard = createPrimaryGuard();
  const { servers, letters } = await findServers(pg, { ...settings, guard });
  const options: PoolOptions = { servers, guard, maxConnections, pooler, outage: createOutage(log) };
  const open = (own: Partial<PoolOptions>) => openPool(pg, { ...options, ...own });
  // Reads have their own connections, so that they do not wait when transactions wait for each other.
  const writes = open({ maxConnections: Math.floor(maxConnections / 2) });
  const reads = open({ maxConnections: Math.ceil(maxConnections / 2) });
  const createDatabase = ({ connect }: Pick<OpenPool, "connect">, begin: string, admits = guard) =>
    new Kysely<Database>({
      dialect: createPostgresDialect({ connect, guard: admits, begin, letters, names: !pooler }),
    });
  const begin = formatBegin(busyTimeoutMs, statementTimeoutMs);
  const [write, read] = [createDatabase(writes, begin), createDatabase(reads, begin)];
  const transact = createTransact(write, busyTimeoutMs);
  const transactSerially = createTransactSerially(write, transact, busyTimeoutMs);
  // Uses the connections of reads, because all writing connections may be waiting for a standby.
  const transactRelaxed = createTransact(createDatabase(reads, `${begin}; ${relaxed}`), busyTimeoutMs);
  const replicas =
    settings.replicas === undefined
      ? undefined
      : openReplicas(pg, {
          ...options,
          address: settings.replicas,
          maxConnections: Math.ceil(maxConnections / 2),
          log,
          read,
          primary: reads,
          createDatabase: (connections, admits) => createDatabase(connections, beginSnapshot, admits),
        });
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
    ...(replicas && { chooseRead: replicas.choose }),
    transact,
    transactRelaxed,
    transactSerially,
    transactExclusively: (work) =>
      runAside(formatBegin(migrationMs, 0), (db) => runExclusivelyIn(db, createTransact(db, migrationMs), work)),
    snapshot: (work) => runAside(beginSnapshot, (db) => db.transaction().execute(work)),
    runAll,
    missingRights: (needed) => findMissingRights(read, needed),
    probe: createProbe(reads, transactSerially),
    async close() {
      stopWatching();
      await Promise.all([writes.end(), reads.end(), replicas?.end()]);
    },
  };
}

/** Waits for the primary's disk only, not for a standby. */
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

/** Runs work while holding the one row that migrating processes lock. Its table exists before all migrations. */
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
/** Errors of PostgreSQL when two processes create the same table at once. */
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
