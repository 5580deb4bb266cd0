import type { Kysely } from "kysely";
import type { Db } from "../database.ts";
import { type Engine, getAdapter } from "../engine.ts";
import * as records from "./001_records.ts";
import * as confirmations from "./002_confirmations.ts";
import * as webhooks from "./003_webhooks.ts";
import * as exportRuns from "./004_export_runs.ts";
import * as mail from "./006_mail.ts";
import * as invitations from "./007_invitations.ts";
import * as eventLog from "./008_event_log.ts";
import * as turns from "./009_turns.ts";
import * as sessions from "./010_sessions.ts";
import * as tenantFirst from "./011_tenant_first.ts";
import * as exportPrivacy from "./012_export_privacy.ts";
import * as auditLookup from "./013_audit_lookup.ts";
import * as tenantSequences from "./014_tenant_sequences.ts";
import * as approvals from "./018_approvals.ts";
import * as people from "./019_people.ts";
import * as searchIndex from "./020_search_index.ts";
import * as approvalNotices from "./021_approval_notices.ts";
import * as productTokens from "./022_product_tokens.ts";
import * as auditActor from "./023_audit_actor.ts";
import * as appLimits from "./024_app_limits.ts";
import * as approvalTexts from "./025_approval_texts.ts";

/** A migration. There is no way back, and a released migration never changes. */
export interface Migration {
  up(db: Db): Promise<void>;
  /**
   * The last migration that a program must know to work with the database after this one. It is an earlier one if this
   * migration only adds, or removes what programs have not used since then. Default: this migration.
   */
  readonly since?: string;
}

export type Migrations = Readonly<Record<string, Migration>>;

export const migrations: Migrations = {
  "001_records": records,
  "002_confirmations": confirmations,
  "003_webhooks": webhooks,
  "004_export_runs": exportRuns,
  "006_mail": mail,
  "007_invitations": invitations,
  "008_event_log": eventLog,
  "009_turns": turns,
  "010_sessions": sessions,
  "011_tenant_first": tenantFirst,
  "012_export_privacy": exportPrivacy,
  "013_audit_lookup": auditLookup,
  "014_tenant_sequences": tenantSequences,
  "018_approvals": approvals,
  "019_people": people,
  "020_search_index": searchIndex,
  "021_approval_notices": approvalNotices,
  "022_product_tokens": productTokens,
  "023_audit_actor": auditActor,
  "024_app_limits": appLimits,
  "025_approval_texts": approvalTexts,
};

export interface MigrationStatus {
  readonly applied: readonly { readonly name: string; readonly appliedAt: string }[];
  readonly pending: readonly string[];
  /** Migrations that a later version of this program applied. */
  readonly unknown: readonly string[];
  /** Those of them with which this version cannot work. */
  readonly incompatible: readonly string[];
}

export async function readMigrationStatus(db: Db, known = migrations): Promise<MigrationStatus> {
  const { exists } = getAdapter(db);
  const rows = (await exists(db, "migrations"))
    ? await db.selectFrom("migrations").selectAll().orderBy("name").execute()
    : [];
  const applied = rows.map((row) => ({ name: String(row["name"]), appliedAt: String(row["appliedAt"]) }));
  const names = new Set(applied.map(({ name }) => name));
  const later = rows.filter((row) => !Object.hasOwn(known, String(row["name"])));
  const tooLate = later.filter((row) => !Object.hasOwn(known, String(row["since"])));
  return {
    applied,
    pending: Object.keys(known).filter((name) => !names.has(name)),
    unknown: later.map((row) => String(row["name"])),
    incompatible: tooLate.map((row) => String(row["name"])),
  };
}

/**
 * Applies the pending migrations, all or nothing. If several processes start at once, one of them migrates.
 * @throws Error when a later version has migrated the database beyond what this version supports
 */
export function migrateDatabase(
  { transactExclusively }: Pick<Engine, "transactExclusively">,
  known = migrations,
): Promise<void> {
  return transactExclusively(async (transaction) => {
    // A user who may not create tables may still use the existing ones.
    if (!(await getAdapter(transaction).exists(transaction, "migrations"))) await createMigrationsTable(transaction);
    const { pending, incompatible } = await readMigrationStatus(transaction, known);
    if (incompatible.length > 0) {
      throw new Error(`A later version of this program has migrated the database (${incompatible.join(", ")})`);
    }
    for (const name of pending) {
      await known[name]?.up(transaction);
      const appliedAt = new Date().toISOString();
      await transaction.insertInto("migrations").values({ name, appliedAt }).execute();
    }
    // The first migrations run before the column exists.
    for (const name of pending) {
      const since = known[name]?.since;
      if (since !== undefined)
        await transaction.updateTable("migrations").set({ since }).where("name", "=", name).execute();
    }
  });
}

async function createMigrationsTable(db: Kysely<Record<string, Record<string, unknown>>>): Promise<void> {
  await db.schema
    .createTable("migrations")
    .addColumn("name", "text", (column) => column.primaryKey())
    .addColumn("appliedAt", "text", (column) => column.notNull())
    .execute();
}
