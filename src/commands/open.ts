import { type App, createApp } from "../app.ts";
import type { Config } from "../config/load.ts";
import { seedDemo } from "../demo/seed.ts";

/** Whether the database is one for trying things out: the default one, or any that demonstration data was asked for. */
export function isDemo(config: Config): boolean {
  return config.baseUrl === undefined && (config.demo || !config.databaseGiven);
}

/** The program on its database, filled with demonstration data first where it is one for trying things out and empty. */
export async function openApp(config: Config): Promise<App> {
  const app = await createApp(config);
  const empty = (await app.store.listBusinesses()).length === 0;
  if (empty && isDemo(config)) await seedDemo(app.store, app.content, { now: new Date() });
  return app;
}

/** Runs `work` on the opened program and closes it again. */
export async function withApp(config: Config, work: (app: App) => Promise<void>): Promise<void> {
  const app = await openApp(config);
  try {
    await work(app);
  } finally {
    await app.close();
  }
}
