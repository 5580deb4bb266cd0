import { existsSync } from "node:fs";
import { dirname } from "node:path";
import type { Config } from "../config/load.ts";
import { UsageError } from "../config/usage-error.ts";
import { isPostgresAddress } from "../lib/postgres-address.ts";
import { inspectReadReplicas, inspectStore, type StoreOptions } from "../store/open.ts";

export { MissingRights } from "../store/open.ts";

/**
 * Returns how to open the configured database.
 * @throws UsageError if its directory does not exist
 */
export function getStoreOptions(config: Config): StoreOptions {
  const { database, databaseConnections, databasePooler, databaseReadReplicas } = config;
  const missing = findMissingDirectory(config);
  if (missing !== undefined) {
    throw new UsageError(
      `The database cannot be ${database}: the directory ${missing} does not exist. ${directoryFix}`,
    );
  }
  return { database, maxConnections: databaseConnections, pooler: databasePooler, replicas: databaseReadReplicas };
}

export const directoryFix = "Correct the path, create the directory, or pass --create (PROGRAMME_CREATE=1).";

/** Returns the missing directory of a database that is named in the settings: its path is probably misspelt. */
export function findMissingDirectory({ database, databaseGiven, create }: Config): string | undefined {
  if (!databaseGiven || create || database === ":memory:" || isPostgresAddress(database)) return undefined;
  const directory = dirname(database);
  return existsSync(directory) ? undefined : directory;
}

/** Returns the migrations that the configured database has and lacks; changes nothing. */
export function inspectDatabase(config: Config): ReturnType<typeof inspectStore> {
  return inspectStore(getStoreOptions(config));
}

/** Returns which of the configured read replicas can be used. */
export function inspectDatabaseReplicas(config: Config): ReturnType<typeof inspectReadReplicas> {
  return inspectReadReplicas(getStoreOptions(config));
}
