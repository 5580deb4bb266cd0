import type { Db } from "../database.ts";

/** Whoever follows the link of an invitation names no tenant. */
export async function up(db: Db): Promise<void> {
  await db.schema.createIndex("invitations_index_secret").unique().on("invitations").column("sha256").execute();
}
