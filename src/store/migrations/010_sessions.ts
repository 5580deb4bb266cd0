import type { Db } from "../database.ts";

/** Stores the MCP sessions over HTTP that processes share, because any of them may receive the next request. */
export async function up(db: Db): Promise<void> {
  await db.schema
    .createTable("sessions")
    .addColumn("callerId", "text", (column) => column.notNull())
    .addColumn("sessionId", "text", (column) => column.notNull())
    .addColumn("ended", "bigint", (column) => column.notNull())
    .addColumn("streamId", "text")
    .addColumn("turn", "bigint")
    .addColumn("followed", "text", (column) => column.notNull())
    .addColumn("changedAt", "text", (column) => column.notNull())
    .addColumn("expiresAt", "text", (column) => column.notNull())
    .addPrimaryKeyConstraint("sessions_key", ["callerId", "sessionId"])
    .execute();
  await db.schema
    .createIndex("sessions_index_1")
    .on("sessions")
    .columns(["callerId", "ended", "changedAt", "sessionId"])
    .execute();
  await db.schema
    .createTable("sessionAnswers")
    .addColumn("callerId", "text", (column) => column.notNull())
    .addColumn("questionId", "text", (column) => column.notNull())
    .addColumn("answer", "text", (column) => column.notNull())
    .addColumn("expiresAt", "text", (column) => column.notNull())
    .addPrimaryKeyConstraint("sessionAnswers_key", ["callerId", "questionId"])
    .execute();
}
