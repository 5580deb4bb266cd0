import type { Db } from "../database.ts";

/** One-time names of confirmations that were used: each counts once, in whichever process. */
export async function up(db: Db): Promise<void> {
  await db.schema
    .createTable("confirmations")
    .addColumn("businessId", "text", (column) => column.notNull())
    .addColumn("nonce", "text", (column) => column.notNull())
    .addColumn("expiresAt", "text", (column) => column.notNull())
    .addPrimaryKeyConstraint("confirmations_key", ["businessId", "nonce"])
    .execute();
  await db.schema
    .createIndex("confirmations_index_1")
    .on("confirmations")
    .columns(["businessId", "expiresAt"])
    .execute();
}
