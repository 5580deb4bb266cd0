import type { Db } from "../database.ts";

/** The previous version does not use this table. */
export const since = "020_search_index";

/** Stores who wants messages of new approvals, and when there was the last attempt to send one. */
export async function up(db: Db): Promise<void> {
  let table = db.schema.createTable("approvalNotices");
  for (const name of ["businessId", "userId", "triedAt", "toldUntil"]) {
    table = table.addColumn(name, "text", (column) => column.notNull());
  }
  await table
    .addPrimaryKeyConstraint("approvalNotices_key", ["businessId", "userId"] as never)
    .addForeignKeyConstraint("approvalNotices_userId", ["userId"] as never, "users", ["id"], (reference) =>
      reference.onDelete("cascade"),
    )
    .execute();
}
