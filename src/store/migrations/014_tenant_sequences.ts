import { type Kysely, sql } from "kysely";
import type { Database, Db } from "../database.ts";

/** Names the number of a commit and its table as the code does. Programs that know the old names cannot continue. */
export async function up(db: Db): Promise<void> {
  await db.schema.dropView("eventLog").execute();
  await renameTable(db);
  for (const [table, id] of [
    ["audit", "auditId"],
    ["events", "eventId"],
    ["receivedEvents", "eventId"],
  ] as const) {
    await db.schema.dropIndex(`${table}_index_turn`).execute();
    await db.schema.alterTable(table).renameColumn("turn", "commitNumber").execute();
    await db.schema
      .createIndex(`${table}_index_commitNumber`)
      .on(table)
      .columns(["businessId", "commitNumber", id])
      .where(sql<boolean>`"commitNumber" is not null`)
      .execute();
  }
  await db.schema.alterTable("sessions").renameColumn("turn", "commitNumber").execute();
  await createView(db);
}

/** Copies the rows, because not every database can rename the key with its table. */
async function renameTable(db: Kysely<Database>): Promise<void> {
  await db.schema
    .createTable("tenantSequences")
    .addColumn("businessId", "text", (column) => column.notNull())
    .addColumn("commitNumber", "bigint", (column) => column.notNull())
    .addPrimaryKeyConstraint("tenantSequences_key", ["businessId"])
    .execute();
  await db
    .insertInto("tenantSequences")
    .columns(["businessId", "commitNumber"])
    .expression(db.selectFrom("turns").select(["businessId", "turn"]))
    .execute();
  await db.schema.dropTable("turns").execute();
}

async function createView(db: Kysely<Database>): Promise<void> {
  const same = ["businessId", "eventId", "eventType", "submissionId", "payload", "commitNumber"] as const;
  const own = db
    .selectFrom("events")
    .select([...same, "eventType as kind", "timestamp as at", sql<unknown>`cast(null as text)`.as("webhook")]);
  const received = db.selectFrom("receivedEvents").select([...same, "kind", "receivedAt as at", "webhook"]);
  await db.schema.createView("eventLog").as(own.unionAll(received)).execute();
}
