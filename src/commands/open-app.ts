import { setImmediate } from "node:timers/promises";
import { type App, type AppOptions, createApp } from "../app/app.ts";
import { type Config, isDemo } from "../config/load.ts";
import { showProgress } from "./terminal/progress.ts";
import { onInterrupt } from "./terminal/signals.ts";

/**
 * Time that an unattended start waits for a database server, because both may start at once, and for another process
 * that migrates or fills the database.
 */
export const databaseWaitMs = 30_000;

/**
 * Opens the program on its database. An empty database for trying things out is filled with demonstration data first.
 */
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
 * Fills an empty database with demonstration data, and shows the progress. Returns false if it is not empty, for
 * example because another process has filled it.
 * @throws Interrupted when the process is stopped
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
        // SQLite answers synchronously. Without this pause, the process would not receive signals.
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
