import { type SqlBool, sql } from "kysely";
import type { Db } from "../database.ts";

/** The previous version neither marks repeated requests nor looks up changes by record. */
export const since = "012_export_privacy";

/** Marks requests that were answered with a stored result, and finds the changes of a record without its programme. */
export async function up(db: Db): Promise<void> {
  await db.schema.alterTable("audit").addColumn("replayed", "bigint").execute();
  await db.schema
    .createIndex("audit_index_entityId_occurredAt")
    .on("audit")
    .columns(["businessId", "entityId", "occurredAt", "auditId"])
    .where(sql<SqlBool>`"kind" = 'change'`)
    .execute();
}
