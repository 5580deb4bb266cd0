import { createApp } from "../../src/app.ts";
import { loadConfig } from "../../src/config/load.ts";

/** Another process that works off exports: `process.ts <database> <nowMs>`, its clock going on from then. */
const [database = "", nowMs = ""] = process.argv.slice(2);
const aheadMs = Number(nowMs) - Date.now();
const config = loadConfig({ PROGRAMME_DATABASE: database, PROGRAMME_LOG_FORMAT: "json" });
const app = await createApp(config, { clock: { now: () => new Date(Date.now() + aheadMs) } });
app.exports?.start();
process.once("SIGTERM", () => {
  void app.close().then(() => process.exit(0));
});
// Workers keep no process up; serving does.
setInterval(() => undefined, 1_000);
process.stdout.write("started\n");
