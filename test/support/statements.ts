import { StatementSync } from "node:sqlite";
import { vi } from "vitest";

/** Written and read beside every request, now and then. */
const besides = /"(tokens|permits|audit)"/;

/** The SQL statements that a call runs for its answer. */
export async function statementsOf(call: () => Promise<unknown>): Promise<string[]> {
  const spies = (["all", "get", "run"] as const).map((method) => vi.spyOn(StatementSync.prototype, method));
  try {
    await call();
    const statements = spies.flatMap((spy) => spy.mock.contexts as unknown as StatementSync[]);
    return statements.map(({ sourceSQL }) => sourceSQL).filter((sql) => !besides.test(sql));
  } finally {
    for (const spy of spies) spy.mockRestore();
  }
}
