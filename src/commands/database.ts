import { createApp } from "../app/app.ts";
import type { Config } from "../config/load.ts";
import { UsageError } from "../config/usage-error.ts";
import { databaseWaitMs, fillDemo } from "./open-app.ts";
import { type Options, print, printJson } from "./terminal/output.ts";

/** Migrates the configured database to this version. */
export async function runMigrate(config: Config, options: Options): Promise<void> {
  await (await createApp(config, { databaseWaitMs })).close();
  if (options["json"]) printJson({ database: config.databaseName, upToDate: true });
  else print(`${config.databaseName} is up to date.\n`);
}

export interface SeedOptions {
  readonly seed: number;
  readonly scale: number;
  readonly json: boolean;
}

/**
 * Fills an empty database with demonstration data.
 * @throws UsageError when the database is not empty
 */
export async function runSeed(config: Config, { seed: seedNumber, scale, json }: SeedOptions): Promise<void> {
  const app = await createApp(config);
  try {
    const empty = (await app.store.listBusinesses()).length === 0;
    if (!empty || !(await fillDemo(app, { seed: seedNumber, scale })))
      throw new UsageError(`${config.databaseName} already holds data; nothing was added`);
    const businesses = await app.store.listBusinesses();
    if (json) printJson({ database: config.databaseName, seed: seedNumber, scale, businesses });
    else print(`${config.databaseName} now holds demonstration data.\n`);
  } finally {
    await app.close();
  }
}
