import { randomBytes } from "node:crypto";
import type { Config } from "../config/load.ts";
import { UsageError } from "../config/usage-error.ts";
import { readOrMakeKey } from "../lib/crypto/key-file.ts";
import { isPostgresAddress } from "../lib/postgres-address.ts";

/**
 * Checks before anything is opened that a key is configured if none can be created.
 * @throws UsageError
 */
export function requireServerKey({ secretKey, database }: Pick<Config, "secretKey" | "database">): void {
  if (secretKey !== undefined || !isPostgresAddress(database)) return;
  throw new UsageError(
    "PROGRAMME_SECRET_KEY is needed with a PostgreSQL database, the same for all processes on it. Create one with: openssl rand -hex 32",
  );
}

/** Returns a loader of the key that encrypts secrets in the database. The key itself is stored elsewhere. */
export function createServerKeyLoader({ secretKey, database, filesBeside }: Config): () => Buffer {
  let key: Buffer | undefined;
  return () => {
    requireServerKey({ secretKey, database });
    if (secretKey !== undefined) key ??= Buffer.from(secretKey, "hex");
    key ??= filesBeside === undefined ? randomBytes(32) : readOrMakeKey(`${filesBeside}.key`);
    return key;
  };
}
