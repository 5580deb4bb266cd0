import type { Db } from "../database.ts";

/** Programs of the previous version do not use this table and column. */
export const since = "014_tenant_sequences";

/** Stores the confirmations that wait for a signed-in person, and in the audit who agreed to a change. */
export async function up(db: Db): Promise<void> {
  const text = "businessId approvalId tool caller callDigest question calls scopes choices status expiresAt except";
  const textOrNull = "tokenId clientName decidedAt decidedBy decidedByName reason";
  const common = "createdAt updatedAt createdBy updatedBy";
  let table = db.schema
    .createTable("approvals")
    .addPrimaryKeyConstraint("approvals_key", ["businessId", "approvalId"] as never);
  for (const name of `${text} ${common}`.split(" ")) table = table.addColumn(name, "text", (c) => c.notNull());
  for (const name of textOrNull.split(" ")) table = table.addColumn(name, "text");
  for (const name of ["showsHidden", "version"]) table = table.addColumn(name, "bigint", (c) => c.notNull());
  await table.execute();
  await db.schema
    .createIndex("approvals_index_status")
    .on("approvals")
    .columns(["businessId", "status", "createdAt", "approvalId"])
    .execute();
  await db.schema
    .createIndex("approvals_index_caller")
    .on("approvals")
    .columns(["businessId", "caller", "status", "callDigest"])
    .execute();
  await db.schema.createIndex("approvals_index_age").on("approvals").columns(["businessId", "createdAt"]).execute();
  await db.schema.alterTable("audit").addColumn("approvedBy", "text").execute();
}
