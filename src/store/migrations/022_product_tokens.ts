import type { Db } from "../database.ts";

/** The previous version does not use this table. */
export const since = "021_approval_notices";

/** Stores the encrypted product tokens of people and organisations, with which their connected apps call the product. */
export async function up(db: Db): Promise<void> {
  let table = db.schema.createTable("productTokens");
  for (const name of ["businessId", "holderId", "baseUrl", "encrypted", "prefix", "scopes", "savedAt", "testedAt"]) {
    table = table.addColumn(name, "text", (column) => column.notNull());
  }
  await table
    .addColumn("userId", "text")
    .addPrimaryKeyConstraint("productTokens_key", ["businessId", "holderId"] as never)
    .addForeignKeyConstraint("productTokens_userId", ["userId"] as never, "users", ["id"], (reference) =>
      reference.onDelete("cascade"),
    )
    .execute();
}
