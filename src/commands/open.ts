import { setImmediate } from "node:timers/promises";
import { type App, createApp } from "../app.ts";
import { type Config, isDemo } from "../config/load.ts";
import { onInterrupt } from "./interruption.ts";
import { showProgress } from "./progress.ts";

/** The program on its database, filled with demonstration data first where it is one for trying things out and empty. */
export async function openApp(config: Config): Promise<App> {
  const app = await createApp(config);
  const empty = (await app.store.listBusinesses()).length === 0;
  if (empty && isDemo(config)) await fillDemo(app, {});
  return app;
}

/**
 * Fills an empty database with demonstration data, and shows how far it has come.
 * @throws Interrupted when the process is told to stop
 */
export async function fillDemo(app: App, options: { seed?: number; scale?: number }): Promise<void> {
  const { seedDemo } = await import("../demo/seed.ts");
  const progress = showProgress("Making demonstration data", 1);
  using interruption = onInterrupt("The database holds only part of the demonstration data: begin with an empty one.");
  try {
    await seedDemo(app.store, app.content, {
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
