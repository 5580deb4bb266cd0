import type { Db } from "../database.ts";

/** Stores the nonces of used confirmations. Each can be used once, in any process. */
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
