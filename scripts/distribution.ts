import { sql } from "kysely";
import { migrateDatabase } from "../src/store/migrations/migrate.ts";
import { openEngine } from "../src/store/open.ts";
import { readSchema } from "../src/store/schema/read-schema.ts";
import type { StoredTable } from "../src/store/schema/schema-introspection.ts";

/**
 * Columns by which rows can be distributed over several servers. Each of them keeps all rows that one request needs on
 * one server.
 */
const spreading = {
  businessId: "its tenant",
  tokenId: "the token",
  callerId: "the caller of MCP",
} as const;

const peoples = "of the people who sign in and their applications: read before the tenant is known, few rows";

/**
 * Tables that every server holds completely, because they are small, rarely change, or are read before the tenant is
 * known.
 */
export const whole: Readonly<Record<string, string>> = {
  tokens: "found by the digest of a token, before its tenant is known; some rows for each tenant",
  settings: "the key from which secrets are derived, and a row for each process",
  migrations: "a row for each step of the schema",
  users: peoples,
  userLinks: peoples,
  userSessions: peoples,
  userCredentials: peoples,
  userPasskeys: peoples,
  verifications: peoples,
  signingKeys: peoples,
  oauthClients: peoples,
  oauthResources: peoples,
  oauthClientResources: peoples,
  oauthRefreshTokens: peoples,
  oauthAccessTokens: peoples,
  oauthConsents: peoples,
  oauthClientAssertions: peoples,
};

export interface DistributedTable extends StoredTable {
  /** The column that determines the server of a row. Undefined if every server holds the whole table. */
  readonly by: keyof typeof spreading | undefined;
  readonly why: string;
}

/** Returns the distribution of each table, referenced tables first. */
export async function distribution(): Promise<DistributedTable[]> {
  const engine = await openEngine({ database: ":memory:" });
  try {
    await migrateDatabase(engine);
    const tables = await readSchema(engine.read);
    const { rows } = await sql<{ from: string; to: string }>`
      select m.name as "from", f."table" as "to" from sqlite_master m join pragma_foreign_key_list(m.name) f
      where m.type = 'table'`.execute(engine.read);
    return referredFirst(tables, rows).map(distributed);
  } finally {
    await engine.close();
  }
}

/**
 * Returns the first column of the key if every unique index contains it, because one server alone can check only such
 * indexes.
 */
export function distributed(table: StoredTable): DistributedTable {
  const first = table.key[0] as keyof typeof spreading;
  const unique = table.indexes.filter((index) => index.unique);
  if (first in spreading && unique.every(({ columns }) => columns.includes(first))) {
    return { ...table, by: first, why: spreading[first] };
  }
  return { ...table, by: undefined, why: whole[table.name] ?? "" };
}

function referredFirst(tables: readonly StoredTable[], references: readonly { from: string; to: string }[]) {
  const sorted = new Set<StoredTable>();
  const add = (table: StoredTable) => {
    for (const { from, to } of references) {
      const target = tables.find(({ name }) => name === to);
      if (from === table.name && target && target !== table && !sorted.has(target)) add(target);
    }
    sorted.add(table);
  };
  for (const table of tables) add(table);
  return [...sorted];
}
