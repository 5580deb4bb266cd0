import { randomBytes } from "node:crypto";
import { hashSha256Hex } from "../lib/crypto/crypto.ts";
import type { Db } from "./database.ts";
import type { Transact } from "./engine.ts";

export const masterKeyName = "masterKey";

/**
 * Returns the digest of a database's key, which identifies the database. Returns undefined for a database that was
 * never used.
 */
export async function readSourceKey(db: Db): Promise<string | undefined> {
  const key = await db.selectFrom("settings").select("value").where("name", "=", masterKeyName).executeTakeFirst();
  return key && hashSha256Hex(`copy of ${key["value"]}`);
}

/** Loads the master key, from which all secrets are derived. Creates it on first use. */
export function loadMasterKey(transact: Transact): Promise<Buffer> {
  return transact(async (db) => {
    await db
      .insertInto("settings")
      .values({ name: masterKeyName, value: randomBytes(32).toString("base64") })
      .onConflict((conflict) => conflict.column("name").doNothing())
      .execute();
    const stored = db.selectFrom("settings").select("value").where("name", "=", masterKeyName);
    return Buffer.from((await stored.executeTakeFirstOrThrow())["value"] as string, "base64");
  });
}
