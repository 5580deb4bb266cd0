import { DatabaseSync } from "node:sqlite";
import { parentPort, workerData } from "node:worker_threads";
import type { Batch, BatchOptions, BatchOutcome } from "./batch-writer.ts";

/**
 * The worker thread of `batch-writer.ts`. It has its own connection, so that it can wait without delaying requests.
 */
const { path, busyTimeoutMs } = workerData as BatchOptions;
const db = new DatabaseSync(path, { timeout: busyTimeoutMs });
db.exec("PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON");

parentPort?.on("message", (batch: Batch | "close") => {
  if (batch === "close") {
    db.close();
    parentPort?.close();
  } else parentPort?.postMessage(runBatch(batch));
});

function runBatch({ sql, rows }: Batch): BatchOutcome {
  try {
    const statement = db.prepare(sql);
    db.exec("BEGIN IMMEDIATE");
    for (const row of rows) statement.run(...row);
    db.exec("COMMIT");
    return {};
  } catch (error) {
    if (db.isTransaction) db.exec("ROLLBACK");
    return { error };
  }
}
