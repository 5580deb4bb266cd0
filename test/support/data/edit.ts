import { DatabaseSync } from "node:sqlite";
import { isPostgresAddress } from "../../../src/lib/postgres-address.ts";
import { runOn } from "../database/database-server.ts";

/** Runs a statement on a database itself, behind the back of the services that stand on it. */
export async function edit(database: string, statement: string): Promise<void> {
  if (isPostgresAddress(database)) return runOn(database, statement);
  const db = new DatabaseSync(database);
  db.exec(statement);
  db.close();
}

/** Gives every token other scopes, as the product's own pages do. */
export function rescope(database: string, scopes: readonly string[]): Promise<void> {
  return edit(database, `update tokens set scopes = '${JSON.stringify(scopes)}'`);
}
