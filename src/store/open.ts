import { existsSync } from "node:fs";
import type { Log } from "../lib/log.ts";
import { isPostgresAddress } from "../lib/postgres-address.ts";
import type { Telemetry } from "../lib/telemetry.ts";
import { settleCopy } from "./copy/checkpoint.ts";
import type { Engine } from "./engine.ts";
import { instrumentEngine } from "./instrumented-engine.ts";
import { type MigrationStatus, migrateDatabase, readMigrationStatus } from "./migrations/migrate.ts";
import type { Store } from "./port.ts";
import { createSqlStore } from "./sql-store.ts";

export interface StoreOptions {
  /** `postgres://…`; or a file, made when missing with access for its owner alone; or `:memory:`. */
  readonly database: string;
  /** How long a transaction waits for another one before it is refused as `unavailable`. */
  readonly busyTimeoutMs?: number;
  /** Connections of this process to a PostgreSQL database at once, two or more. */
  readonly maxConnections?: number;
  /** How long a PostgreSQL server that is not there yet is waited for; not at all by default. */
  readonly waitMs?: number;
  /** A PostgreSQL database is reached through a pooler that gives each transaction any connection. */
  readonly pooler?: boolean;
  /** Told when a PostgreSQL database cannot be reached, and when it can again. */
  readonly log?: Log;
  readonly telemetry?: Telemetry;
}

export const defaultBusyTimeoutMs = 5000;
const defaultConnections = 10;

/**
 * Opens a store and brings its tables up to date.
 * @throws Error for an address of another kind of database, for one that cannot be used, or for a database that a later
 * version has migrated
 */
export async function openStore(options: StoreOptions): Promise<Store> {
  const engine = await openEngine(options);
  try {
    await requireRights(engine);
    await migrateDatabase(engine);
    await settleCopy(engine.write);
    const { telemetry } = options;
    const system = isPostgresAddress(options.database) ? "postgresql" : "sqlite";
    return await createSqlStore(telemetry ? instrumentEngine(engine, system, telemetry) : engine);
  } catch (error) {
    await engine.close();
    throw error;
  }
}

/** @throws Error that says how the user is given the rights that it lacks */
async function requireRights({ read, missingRights }: Engine): Promise<void> {
  if (!missingRights) return;
  // Asked for where it says more than the error of the first statement would.
  const grant = await readMigrationStatus(read).then(
    ({ pending }) => missingRights({ makesTables: pending.length > 0 }),
    () => missingRights({ makesTables: false }),
  );
  if (grant !== undefined) throw new MissingRights(grant);
}

/** The user of the database may not do what the program has to. */
export class MissingRights extends Error {
  override readonly name = "MissingRights";
  /** The statement that gives them, for the database's owner. */
  readonly grant: string;

  constructor(grant: string) {
    super(`The user lacks rights in the database. Its owner gives them with: ${grant}`);
    this.grant = grant;
  }
}

/**
 * Returns which migrations the database has and lacks; changes nothing.
 * @throws Error as above
 */
export async function inspectStore(options: StoreOptions): Promise<MigrationStatus> {
  const { database } = options;
  const there = isPostgresAddress(database) || isAddress(database) || existsSync(database);
  const engine = await openEngine(there ? options : { database: ":memory:" });
  try {
    await requireRights(engine);
    return await readMigrationStatus(engine.read);
  } finally {
    await engine.close();
  }
}

interface EngineOptions {
  /** Rows may refer to ones that are not there: in SQLite a matter of the connection. */
  readonly unchecked?: boolean;
}

/** Opens a database as it is, and loads no other driver than its own. */
export async function openEngine(
  { database, busyTimeoutMs = defaultBusyTimeoutMs, ...options }: StoreOptions,
  { unchecked = false }: EngineOptions = {},
): Promise<Engine> {
  if (isPostgresAddress(database)) {
    const { openPostgres } = await import("./postgres/open.ts");
    const { maxConnections = defaultConnections, pooler = false, waitMs = 0, log } = options;
    return openPostgres({ database, busyTimeoutMs, maxConnections, pooler, waitMs, log });
  }
  if (isAddress(database))
    throw new Error(`Data is kept in a file or in PostgreSQL: ${database.replace(/:.*/s, "")} is not supported`);
  const { openSqlite } = await import("./sqlite/open.ts");
  return openSqlite({ database, busyTimeoutMs, unchecked });
}

function isAddress(database: string): boolean {
  return /^[a-z][a-z0-9+.-]+:\/\//i.test(database);
}
