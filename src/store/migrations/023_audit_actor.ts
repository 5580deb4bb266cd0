import { type SqlBool, sql } from "kysely";
import type { Db } from "../database.ts";

/** The previous version finds the same entries, more slowly. */
export const since = "021_approval_notices";

/** Finds what a person, token or app did: the changes, and the entries of one action, which may be a read. */
export async function up(db: Db): Promise<void> {
  await db.schema
    .createIndex("audit_index_actorId_occurredAt")
    .on("audit")
    .columns(["businessId", "actorId", "occurredAt", "auditId"])
    .where(sql<SqlBool>`"kind" = 'change'`)
    .execute();
  await db.schema
    .createIndex("audit_index_actorId_action")
    .on("audit")
    .columns(["businessId", "actorId", "action", "occurredAt", "auditId"])
    .execute();
}
