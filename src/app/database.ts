import { existsSync } from "node:fs";
import { dirname } from "node:path";
import type { Config } from "../config/load.ts";
import { UsageError } from "../config/usage-error.ts";
import { isPostgresAddress } from "../lib/postgres-address.ts";
import { inspectStore, type StoreOptions } from "../store/open.ts";

export { MissingRights } from "../store/open.ts";

/**
 * Returns how the store is opened.
 * @throws UsageError where a named database would need a directory that does not exist
 */
export function getStoreOptions(config: Config): StoreOptions {
  const { database, databaseConnections, databasePooler } = config;
  const missing = findMissingDirectory(config);
  if (missing !== undefined) {
    throw new UsageError(
      `The database cannot be ${database}: the directory ${missing} does not exist. ${directoryFix}`,
    );
  }
  return { database, maxConnections: databaseConnections, pooler: databasePooler };
}

export const directoryFix = "Correct the path, make the directory, or have it made with --create (PROGRAMME_CREATE=1).";

/** Returns the directory that a named database lacks: more likely a misspelt path than a wish for a new directory. */
export function findMissingDirectory({ database, databaseGiven, create }: Config): string | undefined {
  if (!databaseGiven || create || database === ":memory:" || isPostgresAddress(database)) return undefined;
  const directory = dirname(database);
  return existsSync(directory) ? undefined : directory;
}

/** Which migrations the configured database has and lacks; changes nothing. */
export function inspectDatabase(config: Config): ReturnType<typeof inspectStore> {
  return inspectStore(getStoreOptions(config));
}
