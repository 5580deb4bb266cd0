import { createApp } from "../../../src/app/app.ts";
import { loadConfig } from "../../../src/config/load.ts";

/**
 * A service in a process of its own, with all that it does beside requests: `process.ts <aheadMs>`. Its clock is that
 * much ahead. Settings are those of the environment. Prints where it listens, once it works.
 */
const aheadMs = Number(process.argv[2]);
const config = loadConfig({ PROGRAMME_PORT: "0", PROGRAMME_LOG_LEVEL: "silent", ...process.env });
const app = await createApp(config, { clock: { now: () => new Date(Date.now() + aheadMs) } });
const { origin } = await app.listen();
app.startWorkers();
await app.serveMetrics();
process.once("SIGTERM", () => {
  void app.close().then(() => process.exit(0));
});
process.stdout.write(`${origin}\n`);
