import { sql } from "kysely";
import { type Db, prepareQuery } from "../database.ts";

/** A number that is another one after each commit of any other connection to the same file, of whatever process. */
export function createRevisionReader(db: Db): () => Promise<unknown> {
  const dataVersion = prepareQuery({ compile: () => sql`PRAGMA data_version`.compile(db) });
  let coming: Promise<unknown> | undefined;

  async function readRevision(): Promise<unknown> {
    // To ask locks the file. Whoever wants to know before it is asked can be told the same, as of later than they asked.
    await new Promise(setImmediate);
    coming = undefined;
    return (await dataVersion(db)).rows[0]?.[0];
  }

  return () => (coming ??= readRevision());
}
