import type { Db } from "../database.ts";

/** The previous version wrote all exports in clear text, as exports without this value are. */
export const since = "011_tenant_first";

/** Stores how much of personal data an export shows. */
export async function up(db: Db): Promise<void> {
  await db.schema.alterTable("exports").addColumn("privacy", "text").execute();
}
