import { type SqlBool, sql } from "kysely";
import type { Db } from "../database.ts";

/** Stores messages that wait to be sent, and suppressed addresses. */
export async function up(db: Db): Promise<void> {
  await createQueue(db);
  await createSuppressions(db);
  // Enqueues the messages from before the queue existed.
  await db
    .insertInto("mailQueue")
    .columns(["businessId", "emailSendId", "dueAt", "attempt", "leaseId"])
    .expression(
      db
        .selectFrom("emailSends")
        .where("status", "=", "queued")
        .select(["businessId", "emailSendId", "queuedAt", sql.lit(0).as("attempt"), sql.lit("").as("leaseId")]),
    )
    .execute();
}

async function createQueue(db: Db): Promise<void> {
  let table = db.schema.createTable("mailQueue");
  for (const name of ["businessId", "emailSendId", "dueAt", "leaseId"]) {
    table = table.addColumn(name, "text", (column) => column.notNull());
  }
  await table
    .addColumn("attempt", "bigint", (column) => column.notNull())
    .addColumn("handedOverAt", "text")
    .addPrimaryKeyConstraint("mailQueue_key", ["businessId", "emailSendId"] as never)
    .addForeignKeyConstraint("mailQueue_reference_1", ["businessId", "emailSendId"] as never, "emailSends", [
      "businessId",
      "emailSendId",
    ])
    .execute();
  await db.schema
    .createIndex("mailQueue_index_1")
    .on("mailQueue")
    .columns(["businessId", "dueAt", "emailSendId"])
    .execute();
}

async function createSuppressions(db: Db): Promise<void> {
  let table = db.schema.createTable("suppressions");
  for (const name of "businessId suppressionId email reason createdAt updatedAt createdBy updatedBy".split(" ")) {
    table = table.addColumn(name, "text", (column) => column.notNull());
  }
  await table
    .addColumn("version", "bigint", (column) => column.notNull())
    .addPrimaryKeyConstraint("suppressions_key", ["businessId", "suppressionId"] as never)
    .execute();
  await db.schema
    .createIndex("suppressions_index_1")
    .on("suppressions")
    .columns(["businessId", "createdAt", "suppressionId"])
    .execute();
  await db.schema
    .createIndex("members_suppressions_email")
    .unique()
    .on("members")
    .columns(["businessId", "tableName", "member", "value"])
    .where(sql<SqlBool>`"tableName" = 'suppressions' and "member" = 'email'`)
    .execute();
}
