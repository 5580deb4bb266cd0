import { type SqlBool, sql } from "kysely";
import type { Db } from "../database.ts";

/**
 * Puts the tenant first in every index. Each list finds the rows that match two filters without skipping over the
 * rest.
 */
export async function up(db: Db): Promise<void> {
  await markMigrations(db);
  for (const time of ["createdAt", "updatedAt"]) {
    for (const home of ["programId", "trackId", "currentRoundId"]) {
      await db.schema
        .createIndex(`submissions_index_${home}_state_${time}`)
        .on("submissions")
        .columns(["businessId", home, "state", time, "submissionId", "submittedAt"])
        .execute();
    }
  }
  for (const home of ["programId", "roundId", "reviewerId", "submissionId"]) {
    await db.schema
      .createIndex(`assignments_index_${home}_status`)
      .on("assignments")
      .columns(["businessId", home, "status", "createdAt", "assignmentId", "active"])
      .execute();
  }
  await db.schema
    .createIndex("reviews_index_submissionId_roundId")
    .on("reviews")
    .columns(["businessId", "submissionId", "roundId", "createdAt", "reviewId"])
    .execute();
  await db.schema
    .createIndex("events_index_type")
    .on("events")
    .columns(["businessId", "eventType", "timestamp", "eventId"])
    .execute();
  await replace(db, "invitations_index_secret");
  // Pending and retained exports are few, so the order of these columns does not matter.
  await replace(db, "exports_index_pending", {
    table: "exports",
    columns: ["businessId", "createdAt", "exportId"],
    where: sql<SqlBool>`"status" = 'pending'`,
  });
  await replace(db, "exportRuns_index_1", {
    table: "exportRuns",
    columns: ["businessId", "keptUntil", "exportId"],
    where: sql<SqlBool>`"keptUntil" is not null`,
  });
}

/** The database now records which migration a program must know to work with it. */
async function markMigrations(db: Db): Promise<void> {
  await db.schema.alterTable("migrations").addColumn("since", "text").execute();
}

interface Replacement {
  readonly table: string;
  readonly columns: readonly string[];
  readonly where: ReturnType<typeof sql<SqlBool>>;
}

async function replace(db: Db, name: string, replacement?: Replacement): Promise<void> {
  await db.schema.dropIndex(name).execute();
  if (!replacement) return;
  const { table, columns, where } = replacement;
  await db.schema
    .createIndex(name)
    .on(table)
    .columns([...columns])
    .where(where)
    .execute();
}
