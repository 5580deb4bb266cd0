import type { Db } from "../database.ts";

/** The previous version does not use this column. */
export const since = "024_app_limits";

/** Stores with an approval the texts of which its question shows only the beginning. */
export async function up(db: Db): Promise<void> {
  await db.schema.alterTable("approvals").addColumn("longTexts", "text").execute();
}
