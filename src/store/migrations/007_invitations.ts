import type { Db } from "../database.ts";

/** The link of an invitation does not name its tenant. */
export async function up(db: Db): Promise<void> {
  await db.schema.createIndex("invitations_index_secret").unique().on("invitations").column("sha256").execute();
}
