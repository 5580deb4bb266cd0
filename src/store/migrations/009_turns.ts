import { type Kysely, sql } from "kysely";
import type { Database, Db } from "../database.ts";

/**
 * Numbers the commits of each tenant. The row of a tenant is also the lock that its concurrent writers wait for. Audit
 * entries and events carry the number, so that a reader who continues from a number misses nothing.
 */
export async function up(db: Db): Promise<void> {
  await db.schema
    .createTable("turns")
    .addColumn("businessId", "text", (column) => column.notNull())
    .addColumn("turn", "bigint", (column) => column.notNull())
    .addPrimaryKeyConstraint("turns_key", ["businessId"])
    .execute();
  for (const [table, id] of [
    ["audit", "auditId"],
    ["events", "eventId"],
    ["receivedEvents", "eventId"],
  ] as const) {
    await db.schema.alterTable(table).addColumn("turn", "bigint").execute();
    await db.schema
      .createIndex(`${table}_index_turn`)
      .on(table)
      .columns(["businessId", "turn", id])
      .where(sql<boolean>`"turn" is not null`)
      .execute();
  }
  await extendView(db);
}

async function extendView(db: Kysely<Database>): Promise<void> {
  await db.schema.dropView("eventLog").execute();
  const same = ["businessId", "eventId", "eventType", "submissionId", "payload", "turn"] as const;
  const own = db
    .selectFrom("events")
    .select([...same, "eventType as kind", "timestamp as at", sql<unknown>`cast(null as text)`.as("webhook")]);
  const received = db.selectFrom("receivedEvents").select([...same, "kind", "receivedAt as at", "webhook"]);
  await db.schema.createView("eventLog").as(own.unionAll(received)).execute();
}
