import type { Db } from "../database.ts";
import { getAdapter } from "../engine.ts";
import { searchedTables } from "../search/candidates.ts";

/** The previous version neither reads nor writes the new tables. */
export const since = "019_people";

/**
 * Creates an index of the words in records. It is filled in the background, in the order in which records changed, so
 * reviewers are now listed by change as well.
 */
export async function up(db: Db): Promise<void> {
  for (const table of searchedTables) await getAdapter(db).fullTextIndex.create(db, table);
  await db.schema
    .createTable("searchProgress")
    .addColumn("businessId", "text", (column) => column.notNull())
    .addColumn("commitNumber", "bigint", (column) => column.notNull())
    .addColumn("positions", "text", (column) => column.notNull())
    .addPrimaryKeyConstraint("searchProgress_key", ["businessId"] as never)
    .execute();
  await db.schema
    .createIndex("reviewers_index_updatedAt")
    .on("reviewers")
    .columns(["businessId", "updatedAt", "reviewerId"])
    .execute();
}
