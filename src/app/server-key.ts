import { randomBytes } from "node:crypto";
import type { Config } from "../config/load.ts";
import { UsageError } from "../config/usage-error.ts";
import { readOrMakeKey } from "../lib/crypto/key-file.ts";
import { isPostgresAddress } from "../lib/postgres-address.ts";

/**
 * Checks that there is a key where none can be made, before anything is opened.
 * @throws UsageError
 */
export function requireServerKey({ secretKey, database }: Pick<Config, "secretKey" | "database">): void {
  if (secretKey !== undefined || !isPostgresAddress(database)) return;
  throw new UsageError(
    "PROGRAMME_SECRET_KEY is needed with a PostgreSQL database, the same for all processes on it: openssl rand -hex 32",
  );
}

/** The key under which secrets are kept in the database: not in the database. */
export function createServerKeyLoader({ secretKey, database, filesBeside }: Config): () => Buffer {
  let key: Buffer | undefined;
  return () => {
    requireServerKey({ secretKey, database });
    if (secretKey !== undefined) key ??= Buffer.from(secretKey, "hex");
    key ??= filesBeside === undefined ? randomBytes(32) : readOrMakeKey(`${filesBeside}.key`);
    return key;
  };
}
