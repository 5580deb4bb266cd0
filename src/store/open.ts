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
  /** A `postgres://…` address, `:memory:`, or a file. A missing file is created with access for its owner only. */
  readonly database: string;
  /** Time that a transaction waits for another one before it fails with `unavailable`. */
  readonly busyTimeoutMs?: number;
  /** Maximum number of connections of this process to PostgreSQL, at least 2. */
  readonly maxConnections?: number;
  /** Time to wait at startup for a PostgreSQL server that cannot be reached. Default: 0. */
  readonly waitMs?: number;
  /** The PostgreSQL address leads to a pooler that assigns connections per transaction. */
  readonly pooler?: boolean;
  /** A `postgres://…` address with all standbys from which many rows may be read. */
  readonly replicas?: string | undefined;
  /** Receives messages when PostgreSQL cannot be reached, and when it can be reached again. */
  readonly log?: Log;
  readonly telemetry?: Telemetry;
}

export const defaultBusyTimeoutMs = 5000;
const defaultConnections = 10;

/**
 * Opens a store and migrates its tables.
 * @throws Error when the address is not supported, the database cannot be used, or a later version has migrated it
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

/**
 * Checks that the database user may do what the program needs.
 * @throws MissingRights
 */
async function requireRights({ read, missingRights }: Engine): Promise<void> {
  if (!missingRights) return;
  // Checked only if the result says more than the error of the first statement would.
  const grant = await readMigrationStatus(read).then(
    ({ pending }) => missingRights({ makesTables: pending.length > 0 }),
    () => missingRights({ makesTables: false }),
  );
  if (grant !== undefined) throw new MissingRights(grant);
}

/** Thrown when the database user lacks privileges that the program needs. */
export class MissingRights extends Error {
  override readonly name = "MissingRights";
  /** The statement that grants them, for the database's owner. */
  readonly grant: string;

  constructor(grant: string) {
    super(`The user lacks rights in the database. Its owner gives them with: ${grant}`);
    this.grant = grant;
  }
}

/**
 * Returns the applied and the pending migrations, and changes nothing.
 * @throws Error as `openStore` does
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

/**
 * Checks which read replicas of PostgreSQL can be used now.
 * @throws Error when the primary cannot be reached
 */
export async function inspectReadReplicas({ database, replicas, pooler = false }: StoreOptions) {
  if (replicas === undefined) return [];
  const { inspectReplicas } = await import("./postgres/inspect-replicas.ts");
  return inspectReplicas({ database, replicas, pooler });
}

interface EngineOptions {
  /** Disables foreign key checks of an SQLite connection. */
  readonly unchecked?: boolean;
}

/** Opens a database without migrating it, and loads only the driver that it needs. */
export async function openEngine(
  { database, busyTimeoutMs = defaultBusyTimeoutMs, ...options }: StoreOptions,
  { unchecked = false }: EngineOptions = {},
): Promise<Engine> {
  if (isPostgresAddress(database)) {
    const { openPostgres } = await import("./postgres/open.ts");
    const { maxConnections = defaultConnections, pooler = false, replicas, waitMs = 0, log } = options;
    return openPostgres({ database, busyTimeoutMs, maxConnections, pooler, replicas, waitMs, log });
  }
  if (isAddress(database))
    throw new Error(`Data can be stored in a file or in PostgreSQL: ${database.replace(/:.*/s, "")} is not supported`);
  const { openSqlite } = await import("./sqlite/open.ts");
  return openSqlite({ database, busyTimeoutMs, unchecked });
}

function isAddress(database: string): boolean {
  return /^[a-z][a-z0-9+.-]+:\/\//i.test(database);
}
