import { DatabaseSync } from "node:sqlite";
import { isPostgresAddress } from "../../../src/lib/postgres-address.ts";
import { runOn } from "../database/database-server.ts";
import { waitFor } from "../wait.ts";

/** Runs a statement on a database itself, behind the back of the services that stand on it. */
export async function edit(database: string, statement: string): Promise<void> {
  if (isPostgresAddress(database)) return runOn(database, statement);
  const db = new DatabaseSync(database);
  try {
    // Not by SQLite's own timeout: the transaction that it waits for may be one of this thread.
    await waitFor(() => db.exec("begin immediate"));
    db.exec(statement);
    db.exec("commit");
  } finally {
    db.close();
  }
}

/** Gives every token other scopes, as the product's own pages do. */
export function rescope(database: string, scopes: readonly string[]): Promise<void> {
  return edit(database, `update tokens set scopes = '${JSON.stringify(scopes)}'`);
}
