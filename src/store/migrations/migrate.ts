import type { Kysely } from "kysely";
import type { Db } from "../database.ts";
import { adapterOf, type Engine } from "../engine.ts";
import * as records from "./001_records.ts";
import * as confirmations from "./002_confirmations.ts";
import * as webhooks from "./003_webhooks.ts";
import * as exportRuns from "./004_export_runs.ts";
import * as mail from "./006_mail.ts";
import * as invitations from "./007_invitations.ts";
import * as eventLog from "./008_event_log.ts";
import * as turns from "./009_turns.ts";
import * as sessions from "./010_sessions.ts";

/** One step forward; there is none back. Released migrations never change. */
export interface Migration {
  up(db: Db): Promise<void>;
}

const migrations: Readonly<Record<string, Migration>> = {
  "001_records": records,
  "002_confirmations": confirmations,
  "003_webhooks": webhooks,
  "004_export_runs": exportRuns,
  "006_mail": mail,
  "007_invitations": invitations,
  "008_event_log": eventLog,
  "009_turns": turns,
  "010_sessions": sessions,
};

export interface MigrationStatus {
  readonly applied: readonly { readonly name: string; readonly appliedAt: string }[];
  readonly pending: readonly string[];
  /** Applied by a later version of this program. */
  readonly unknown: readonly string[];
}

export async function migrationStatus(db: Db): Promise<MigrationStatus> {
  const { exists } = adapterOf(db);
  const rows = (await exists(db, "migrations"))
    ? await db.selectFrom("migrations").select(["name", "appliedAt"]).orderBy("name").execute()
    : [];
  const applied = rows.map((row) => ({ name: String(row["name"]), appliedAt: String(row["appliedAt"]) }));
  const names = new Set(applied.map(({ name }) => name));
  return {
    applied,
    pending: Object.keys(migrations).filter((name) => !names.has(name)),
    unknown: [...names].filter((name) => !Object.hasOwn(migrations, name)),
  };
}

/**
 * Applies what is pending, all or nothing. Of processes that start at once one migrates and the others find it done.
 * @throws Error when a later version has migrated the database
 */
export function migrate({ alone }: Pick<Engine, "alone">): Promise<void> {
  return alone(async (transaction) => {
    await createMigrationsTable(transaction);
    const { pending, unknown } = await migrationStatus(transaction);
    if (unknown.length > 0) {
      throw new Error(`A later version of this program has migrated the database (${unknown.join(", ")})`);
    }
    for (const name of pending) {
      await migrations[name]?.up(transaction);
      const appliedAt = new Date().toISOString();
      await transaction.insertInto("migrations").values({ name, appliedAt }).execute();
    }
  });
}

async function createMigrationsTable(db: Kysely<Record<string, Record<string, unknown>>>): Promise<void> {
  await db.schema
    .createTable("migrations")
    .ifNotExists()
    .addColumn("name", "text", (column) => column.primaryKey())
    .addColumn("appliedAt", "text", (column) => column.notNull())
    .execute();
}
