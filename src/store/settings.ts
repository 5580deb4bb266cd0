import { randomBytes } from "node:crypto";
import { hashSha256Hex } from "../lib/crypto/crypto.ts";
import type { Db } from "./database.ts";
import type { Transact } from "./engine.ts";

export const masterKeyName = "masterKey";

/** What a database is known by: the digest of its key; of one that was never used, nothing. */
export async function readSourceKey(db: Db): Promise<string | undefined> {
  const key = await db.selectFrom("settings").select("value").where("name", "=", masterKeyName).executeTakeFirst();
  return key && hashSha256Hex(`copy of ${key["value"]}`);
}

/** The key kept with the database from which all secrets are derived; made on first use, once. */
export function loadMasterKey(transact: Transact): Promise<Buffer> {
  return transact(async (db) => {
    await db
      .insertInto("settings")
      .values({ name: masterKeyName, value: randomBytes(32).toString("base64") })
      .onConflict((conflict) => conflict.column("name").doNothing())
      .execute();
    const kept = db.selectFrom("settings").select("value").where("name", "=", masterKeyName);
    return Buffer.from((await kept.executeTakeFirstOrThrow())["value"] as string, "base64");
  });
}
