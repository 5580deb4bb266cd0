import { type Kysely, sql } from "kysely";
import type { Database, Db } from "../database.ts";

/**
 * Stores events that were received by webhooks, beside the tenant's own. Both can be listed by time and by submission.
 */
export async function up(db: Db): Promise<void> {
  await createReceived(db);
  await db.schema.alterTable("events").addColumn("submissionId", "text").execute();
  await nameSubmissions(db);
  await createIndexes(db, "events", ["timestamp", "eventId", "eventType"]);
  await createIndexes(db, "receivedEvents", ["receivedAt", "eventId", "kind", "eventType"]);
  await createView(db);
}

async function createReceived(db: Db): Promise<void> {
  let table = db.schema.createTable("receivedEvents");
  const texts = "businessId eventId webhook eventType kind timestamp receivedAt payload";
  for (const name of texts.split(" ")) table = table.addColumn(name, "text", (column) => column.notNull());
  await table
    .addColumn("submissionId", "text")
    .addColumn("position", "bigint", (column) => column.notNull())
    .addPrimaryKeyConstraint("receivedEvents_key", ["businessId", "eventId"] as never)
    .execute();
  await db.schema
    .createIndex("receivedEvents_index_position")
    .unique()
    .on("receivedEvents")
    .columns(["businessId", "position"])
    .execute();
}

const batchRows = 500;

/** Fills the new column of existing events. */
async function nameSubmissions(db: Db): Promise<void> {
  const tenants = await db.selectFrom("events").select("businessId").distinct().execute();
  for (const { businessId } of tenants) {
    for (let after: unknown = -1, more = true; more; ) {
      const rows = await db
        .selectFrom("events")
        .select(["position", "payload"])
        .where("businessId", "=", businessId)
        .where("position", ">", after)
        .orderBy("position")
        .limit(batchRows)
        .execute();
      for (const { position, payload } of rows) {
        const { data } = JSON.parse(payload as string) as { data: { submissionId?: string } };
        if (data.submissionId === undefined) continue;
        const row = db.updateTable("events").where("businessId", "=", businessId).where("position", "=", position);
        await row.set({ submissionId: data.submissionId }).execute();
      }
      after = rows.at(-1)?.["position"];
      more = rows.length === batchRows;
    }
  }
}

/** Indexes by time, followed by columns that decide further filters without reading the row. */
async function createIndexes(db: Db, table: string, [at = "", id = "", ...rest]: readonly string[]): Promise<void> {
  await db.schema
    .createIndex(`${table}_index_time`)
    .on(table)
    .columns(["businessId", at, id, ...rest])
    .execute();
  await db.schema
    .createIndex(`${table}_index_submission`)
    .on(table)
    .columns(["businessId", "submissionId", at, id])
    .where(sql<boolean>`"submissionId" is not null`)
    .execute();
}

async function createView(db: Kysely<Database>): Promise<void> {
  const same = ["businessId", "eventId", "eventType", "submissionId", "payload"] as const;
  const own = db
    .selectFrom("events")
    // Has the same columns as its counterpart below, because SQLite merges two ordered searches only then.
    .select([...same, "eventType as kind", "timestamp as at", sql<unknown>`cast(null as text)`.as("webhook")]);
  const received = db.selectFrom("receivedEvents").select([...same, "kind", "receivedAt as at", "webhook"]);
  await db.schema.createView("eventLog").as(own.unionAll(received)).execute();
}
