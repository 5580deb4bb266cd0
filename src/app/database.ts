import type { Config } from "../config/load.ts";
import { inspectStore, type StoreOptions } from "../store/open.ts";

/** How the store is opened. */
export function storeOptions({ database, databaseConnections, databasePooler }: Config): StoreOptions {
  return { database, maxConnections: databaseConnections, pooler: databasePooler };
}

/** Which migrations the configured database has and lacks; changes nothing. */
export function inspectDatabase(config: Config): ReturnType<typeof inspectStore> {
  return inspectStore(storeOptions(config));
}
