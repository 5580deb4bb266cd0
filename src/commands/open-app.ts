import { setImmediate } from "node:timers/promises";
import { type App, type AppOptions, createApp } from "../app/app.ts";
import { type Config, isDemo } from "../config/load.ts";
import { showProgress } from "./terminal/progress.ts";
import { onInterrupt } from "./terminal/signals.ts";

/** How long a start that nobody watches waits for a database server: both may be started at once. */
export const databaseWaitMs = 30_000;

/** The program on its database, filled with demonstration data first where it is one for trying things out and empty. */
export async function openApp(config: Config, options: AppOptions = {}): Promise<App> {
  const app = await createApp(config, options);
  try {
    const empty = (await app.store.listBusinesses()).length === 0;
    if (empty && isDemo(config)) await fillDemo(app, {});
    return app;
  } catch (error) {
    await app.close();
    throw error;
  }
}

/**
 * Fills an empty database with demonstration data, and shows how far it has come; false where it is not empty, as
 * when another process has filled it meanwhile.
 * @throws Interrupted when the process is told to stop
 */
export async function fillDemo(app: App, options: { seed?: number; scale?: number }): Promise<boolean> {
  const { seedDemo } = await import("../demo/seed.ts");
  const progress = showProgress("Making demonstration data", 1);
  using interruption = onInterrupt("Nothing was added to the database.");
  try {
    return await seedDemo(app.store, app.content, {
      now: new Date(),
      ...options,
      async onProgress(share) {
        progress.to(share);
        // Otherwise no signal would be heard: the database answers without waiting for anything.
        await setImmediate();
        interruption.signal.throwIfAborted();
      },
    });
  } finally {
    progress.end();
  }
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
