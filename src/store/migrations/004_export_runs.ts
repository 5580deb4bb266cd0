import { sql } from "kysely";
import type { Db } from "../database.ts";

/**
 * Stores the leases of exports and the retention of artifacts. The tables span all tenants, because workers serve all
 * of them.
 */
export async function up(db: Db): Promise<void> {
  let table = db.schema.createTable("exportRuns");
  for (const name of ["businessId", "exportId", "leaseId", "leaseUntil"]) {
    table = table.addColumn(name, "text", (column) => column.notNull());
  }
  await table
    .addColumn("attempts", "bigint", (column) => column.notNull())
    .addColumn("sha256", "text")
    .addColumn("keptUntil", "text")
    .addPrimaryKeyConstraint("exportRuns_key", ["businessId", "exportId"] as never)
    .addForeignKeyConstraint("exportRuns_reference_1", ["businessId", "exportId"] as never, "exports", [
      "businessId",
      "exportId",
    ])
    .execute();
  await db.schema
    .createIndex("exportRuns_index_1")
    .on("exportRuns")
    .columns(["keptUntil", "businessId", "exportId"])
    .where(sql<boolean>`"keptUntil" is not null`)
    .execute();
  // Pending exports are few and often searched for.
  await db.schema
    .createIndex("exports_index_pending")
    .on("exports")
    .columns(["createdAt", "businessId", "exportId"])
    .where(sql<boolean>`"status" = 'pending'`)
    .execute();
}
