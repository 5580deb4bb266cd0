import { tmpdir } from "node:os";
import { join } from "node:path";
import { isPostgresAddress } from "../../../src/lib/postgres-address.ts";

/** Creates the other settings for a service on a test's database: the same for all that stand on it. */
export function createSettings(database: string): Record<string, string> {
  if (!isPostgresAddress(database)) return {};
  return { PROGRAMME_DATA_DIR: getDataDir(database), PROGRAMME_SECRET_KEY: "5e".repeat(32) };
}

/** Returns the beginning of the paths of files that belong to a test's database. */
export function getFilesPrefix(database: string): string {
  return isPostgresAddress(database) ? join(getDataDir(database), "programme") : database;
}

/** Where a service on a test's database in PostgreSQL keeps its files. */
export function getDataDir(database: string): string {
  return join(tmpdir(), "programme-test-data", new URL(database).pathname);
}
