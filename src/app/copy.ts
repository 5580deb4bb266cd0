import type { Config } from "../config/load.ts";
import type { StoreOptions } from "../store/open.ts";
import { getStoreOptions } from "./database.ts";

export type { ComparedTable, CopyReport } from "../store/copy/copy.ts";
export { compareDatabases, copyDatabase } from "../store/copy/copy.ts";
export { CopyRefused } from "../store/copy/target.ts";

/** Returns how to open another database, with the settings of the configured one. */
export function createStoreOptions(config: Config, database: string): StoreOptions {
  return getStoreOptions({ ...config, database, databaseGiven: true });
}
