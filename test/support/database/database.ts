import { inject, onTestFinished } from "vitest";
import { temporaryDirectory } from "../processes/directory.ts";
import { copyDatabase, type SharedDatabases, type TestDatabase } from "./database-server.ts";

declare module "vitest" {
  interface ProvidedContext {
    /** Where desks stand on PostgreSQL: databases that all files share. */
    readonly databases: SharedDatabases | undefined;
    /** The address of a server to use in place of one that is started. */
    readonly postgres: string | undefined;
    /** The isolation level at which a server is started. */
    readonly isolation: string | undefined;
  }
}

/** True if the tests use PostgreSQL. */
export const onPostgres = process.env["TEST_DATABASE"] === "postgres";

/** An empty database that several services can use: on PostgreSQL where desks stand on it, else a file. */
export async function newDatabase(): Promise<TestDatabase> {
  const shared = inject("databases");
  if (shared) return copyDatabase(shared);
  const { path, remove } = await temporaryDirectory();
  return { database: `${path}/programme.db`, remove };
}

/** The same for one test, which ends it. */
export async function ownDatabase(): Promise<string> {
  const { database, remove } = await newDatabase();
  onTestFinished(remove);
  return database;
}
