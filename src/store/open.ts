import { closeSync, existsSync, mkdirSync, openSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { Kysely } from "kysely";
import type { Database } from "./database.ts";
import { type MigrationStatus, migrate, migrationStatus } from "./migrations/migrate.ts";
import type { Store } from "./port.ts";
import { createSqlStore, type Sides } from "./sql-store.ts";
import { createBatches } from "./sqlite/batches.ts";
import { SqliteDialect } from "./sqlite/dialect.ts";
import { revisionOf } from "./sqlite/revision.ts";

export interface StoreOptions {
  /** A file, made when missing with access for its owner alone, or `:memory:`. */
  readonly database: string;
  /** How long a transaction waits for another one before it is refused as `unavailable`. */
  readonly busyTimeoutMs?: number;
}

const defaultBusyTimeoutMs = 5000;

/**
 * Opens a store and brings its tables up to date.
 * @throws Error for an address that is no file, or a database that a later version has migrated
 */
export async function openStore(options: StoreOptions): Promise<Store> {
  const sides = open(options);
  try {
    await migrate(sides.write);
    return await createSqlStore(sides);
  } catch (error) {
    await close(sides);
    throw error;
  }
}

/** Which migrations the database has and lacks; changes nothing. */
export async function inspectStore(options: StoreOptions): Promise<MigrationStatus> {
  refuseAddress(options.database);
  const sides = open(existsSync(options.database) ? options : { database: ":memory:" });
  try {
    return await migrationStatus(sides.read);
  } finally {
    await close(sides);
  }
}

function open({ database, busyTimeoutMs = defaultBusyTimeoutMs }: StoreOptions): Sides {
  refuseAddress(database);
  const inMemory = database === ":memory:";
  const path = inMemory ? database : resolve(database);
  if (!inMemory) create(path);
  const side = (role: "read" | "write") =>
    new Kysely<Database>({ dialect: new SqliteDialect({ path, role, busyTimeoutMs }) });
  const write = side("write");
  if (inMemory) return { write, read: write };
  const read = side("read");
  return { write, read, revision: revisionOf(read), batches: createBatches({ path, busyTimeoutMs }) };
}

function refuseAddress(database: string): void {
  const scheme = /^[a-z][a-z0-9+.-]+:\/\//i.exec(database)?.[0];
  if (scheme) throw new Error(`This build keeps its data in a file: ${scheme} is not supported`);
}

/** Makes the file that SQLite would make, but for its owner alone. */
function create(path: string): void {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  closeSync(openSync(path, "a", 0o600));
}

async function close({ read, write }: Sides): Promise<void> {
  await read.destroy();
  await write.destroy();
}
