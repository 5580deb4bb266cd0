import { createApp } from "../../src/app.ts";
import { loadConfig } from "../../src/config/load.ts";
import { newId } from "../../src/lib/ids.ts";

/**
 * Another process on the same database: `process.ts <businessId> <events a second>`. It delivers, and writes events of
 * its own; each is printed once it is committed.
 */
const [businessId = "", rate = "0"] = process.argv.slice(2);
const app = await createApp(loadConfig({ ...process.env, PROGRAMME_LOG_LEVEL: "silent" }));
app.startWorkers();
process.stdout.write("started\n");
for (;;) {
  await new Promise((resolve) => setTimeout(resolve, Number(rate) > 0 ? 1000 / Number(rate) : 1000));
  if (Number(rate) === 0) continue;
  const now = new Date().toISOString();
  const event = {
    eventType: "program.lifecycle_status_changed",
    eventId: newId("evt"),
    timestamp: now,
    data: { businessId, programId: "prg_1", fromStatus: "configured", toStatus: "underway", version: 1 },
  } as const;
  await app.store.transaction({ businessId, actorId: "usr_test", now }, (transaction) =>
    transaction.appendEvents([event]),
  );
  process.stdout.write(`${event.eventId}\n`);
}
