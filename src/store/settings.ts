import { randomBytes } from "node:crypto";
import type { Db } from "./database.ts";

const name = "masterKey";

/** The key kept with the database from which all secrets are derived; made on first use. */
export function masterKey(db: Db): Promise<Buffer> {
  return db.transaction().execute(async (transaction) => {
    const kept = await transaction.selectFrom("settings").select("value").where("name", "=", name).executeTakeFirst();
    if (kept) return Buffer.from(kept["value"] as string, "base64");
    const key = randomBytes(32);
    await transaction
      .insertInto("settings")
      .values({ name, value: key.toString("base64") })
      .execute();
    return key;
  });
}
