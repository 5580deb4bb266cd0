import { sql } from "kysely";
import type { Db } from "../database.ts";

/** Stores webhook endpoints, pending deliveries and their results. */
export async function up(db: Db): Promise<void> {
  await createEndpoints(db);
  await createDeliveries(db);
  await createAttempts(db);
  await db.schema
    .createTable("webhookCursors")
    .addColumn("businessId", "text", (column) => column.notNull())
    .addColumn("position", "bigint", (column) => column.notNull())
    .addPrimaryKeyConstraint("webhookCursors_key", ["businessId"])
    .execute();
  // Rows that are deleted after a time are found by their age.
  await db.schema
    .createIndex("audit_index_access")
    .on("audit")
    .columns(["businessId", "occurredAt", "auditId"])
    .where(sql<boolean>`"kind" = 'access'`)
    .execute();
}

async function createEndpoints(db: Db): Promise<void> {
  let table = db.schema.createTable("webhookEndpoints");
  const texts = "businessId endpointId url eventTypes secret status createdAt updatedAt createdBy updatedBy";
  for (const name of texts.split(" ")) table = table.addColumn(name, "text", (column) => column.notNull());
  for (const name of ["previousSecret", "previousSecretUntil", "disabledReason", "firstFailureAt", "pausedUntil"]) {
    table = table.addColumn(name, "text");
  }
  for (const name of ["afterPosition", "version"]) {
    table = table.addColumn(name, "bigint", (column) => column.notNull());
  }
  await table.addPrimaryKeyConstraint("webhookEndpoints_key", ["businessId", "endpointId"] as never).execute();
  await db.schema
    .createIndex("webhookEndpoints_index_1")
    .on("webhookEndpoints")
    .columns(["businessId", "createdAt", "endpointId"])
    .execute();
}

async function createDeliveries(db: Db): Promise<void> {
  let table = db.schema.createTable("webhookDeliveries");
  const texts = "businessId deliveryId endpointId eventId status dueAt createdAt updatedAt";
  for (const name of texts.split(" ")) table = table.addColumn(name, "text", (column) => column.notNull());
  for (const name of ["leaseId", "leaseUntil", "lastError", "deliveredAt"]) table = table.addColumn(name, "text");
  for (const name of ["replay", "attempt"]) table = table.addColumn(name, "bigint", (column) => column.notNull());
  await table
    .addColumn("lastStatusCode", "bigint")
    .addPrimaryKeyConstraint("webhookDeliveries_key", ["businessId", "deliveryId"] as never)
    .addForeignKeyConstraint("webhookDeliveries_reference_1", ["businessId", "eventId"] as never, "events", [
      "businessId",
      "eventId",
    ])
    .execute();
  const createIndex = (name: string, columns: readonly string[]) =>
    db.schema
      .createIndex(`webhookDeliveries_${name}`)
      .on("webhookDeliveries")
      .columns(["businessId", ...columns]);
  await createIndex("index_1", ["createdAt", "deliveryId"]).execute();
  await createIndex("index_2", ["endpointId", "createdAt", "deliveryId"]).execute();
  await createIndex("index_3", ["eventId", "endpointId"]).execute();
  await createIndex("pending", ["endpointId", "dueAt"]).where(sql<boolean>`"status" = 'pending'`).execute();
  await createIndex("leased", ["endpointId", "leaseUntil"]).where(sql<boolean>`"status" = 'leased'`).execute();
  // An event has at most one delivery for an endpoint, unless it is replayed.
  await createIndex("once", ["endpointId", "eventId"]).unique().where(sql<boolean>`"replay" = 0`).execute();
}

async function createAttempts(db: Db): Promise<void> {
  let table = db.schema.createTable("webhookAttempts");
  for (const name of ["businessId", "attemptId", "deliveryId", "startedAt"]) {
    table = table.addColumn(name, "text", (column) => column.notNull());
  }
  await table
    .addColumn("durationMs", "bigint", (column) => column.notNull())
    .addColumn("statusCode", "bigint")
    .addColumn("error", "text")
    .addColumn("answer", "text")
    .addPrimaryKeyConstraint("webhookAttempts_key", ["businessId", "deliveryId", "attemptId"] as never)
    .execute();
}
