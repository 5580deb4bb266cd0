import { sql } from "kysely";
import { waitForEndOfInput } from "../../lib/node/event-loop.ts";
import { type Db, prepareQuery } from "../database.ts";

/**
 * Returns a reader of a number that changes with each commit of any other connection to the same file, in any process.
 */
export function createRevisionReader(db: Db): () => Promise<unknown> {
  const dataVersion = prepareQuery({ compile: () => sql`PRAGMA data_version`.compile(db) });
  let coming: Promise<unknown> | undefined;

  async function readRevision(): Promise<unknown> {
    // Reading the number locks the file. Callers that arrive before the read share its result, because it is later
    // than their request.
    await waitForEndOfInput();
    coming = undefined;
    return (await dataVersion(db)).rows[0]?.[0];
  }

  return () => (coming ??= readRevision());
}
