import type { Db } from "../database.ts";

/** The previous version ignores these columns: connections then last until they are ended. */
export const since = "021_approval_notices";

/** Stores until when an app is connected, and when it was last used. */
export async function up(db: Db): Promise<void> {
  for (const column of ["expiresAt", "lastUsedAt"]) {
    await db.schema.alterTable("oauthConsents").addColumn(column, "text").execute();
  }
  await db.schema.createIndex("oauthConsents_index_expiresAt").on("oauthConsents").column("expiresAt").execute();
}
