import type { Db } from "../database.ts";

/** The version before wrote all exports in clear, as those are of which this says nothing. */
export const since = "011_tenant_first";

/** How much of people the file of an export shows. */
export async function up(db: Db): Promise<void> {
  await db.schema.alterTable("exports").addColumn("privacy", "text").execute();
}
