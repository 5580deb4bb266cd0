import { sql } from "kysely";
import { type Db, prepare } from "../database.ts";

/** A number that is another one after each commit of any other connection to the same file, of whatever process. */
export function revisionOf(db: Db): () => Promise<unknown> {
  const dataVersion = prepare({ compile: () => sql`PRAGMA data_version`.compile(db) });
  return async () => (await dataVersion(db)).rows[0]?.[0];
}
