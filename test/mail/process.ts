import { createApp } from "../../src/app.ts";
import { loadConfig } from "../../src/config/load.ts";

/** Another process on the same database, which sends mail until it is killed. */
const app = await createApp(loadConfig({ ...process.env, PROGRAMME_LOG_LEVEL: "silent" }));
app.startWorkers();
process.stdout.write("started\n");
setInterval(() => undefined, 60_000);
