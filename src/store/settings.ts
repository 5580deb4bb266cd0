import { randomBytes } from "node:crypto";
import type { Transact } from "./engine.ts";

const name = "masterKey";

/** The key kept with the database from which all secrets are derived; made on first use, once. */
export function masterKey(transact: Transact): Promise<Buffer> {
  return transact(async (db) => {
    await db
      .insertInto("settings")
      .values({ name, value: randomBytes(32).toString("base64") })
      .onConflict((conflict) => conflict.column("name").doNothing())
      .execute();
    const kept = db.selectFrom("settings").select("value").where("name", "=", name);
    return Buffer.from((await kept.executeTakeFirstOrThrow())["value"] as string, "base64");
  });
}
