import { pino } from "pino";
import { createApp } from "../../src/app/app.ts";
import { loadConfig } from "../../src/config/load.ts";
import { createSettings } from "../support/database/database-settings.ts";

/** Another process on the same database: `other-process.ts <database> <token> <programId> <version>` renames a programme. */
const [database = "", token = "", programId = "", version = ""] = process.argv.slice(2);
const app = await createApp(loadConfig({ PROGRAMME_DATABASE: database, ...createSettings(database) }), {
  log: pino({ level: "silent" }),
});
const answer = await app.upstream.call({
  operation: "update_program",
  input: { programId, name: "By another process", version: Number(version) },
  token,
  requestId: "req_other",
});
await app.close();
process.exitCode = answer.ok ? 0 : 1;
