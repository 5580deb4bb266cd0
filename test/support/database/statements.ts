import { StatementSync } from "node:sqlite";
import pg from "pg";
import { vi } from "vitest";
import { onPostgres } from "./database.ts";

/** Written and read beside every request, now and then; and what holds a transaction together. */
const besides = /"(tokens|permits|audit|tenantSequences)"|^(begin|commit|rollback|pragma synchronous)/;

/** The SQL statements that a call runs for its answer. */
export async function recordStatements(call: () => Promise<unknown>): Promise<string[]> {
  const statements = await (onPostgres ? ofPostgres(call) : ofSqlite(call));
  return statements.filter((sql) => !besides.test(sql));
}

async function ofSqlite(call: () => Promise<unknown>): Promise<string[]> {
  const spies = (["all", "get", "run"] as const).map((method) => vi.spyOn(StatementSync.prototype, method));
  try {
    await call();
    const statements = spies.flatMap((spy) => spy.mock.contexts as unknown as StatementSync[]);
    return statements.map(({ sourceSQL }) => sourceSQL);
  } finally {
    for (const spy of spies) spy.mockRestore();
  }
}

async function ofPostgres(call: () => Promise<unknown>): Promise<string[]> {
  const spy = vi.spyOn(pg.Client.prototype, "query");
  try {
    await call();
    const queries = spy.mock.calls.map(([query]) => query as string | { text: string });
    return queries.map((query) => (typeof query === "string" ? query : query.text));
  } finally {
    spy.mockRestore();
  }
}
