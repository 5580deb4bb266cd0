import { DatabaseSync } from "node:sqlite";
import { parentPort, workerData } from "node:worker_threads";
import type { Batch, BatchOptions, BatchOutcome, Task } from "./batch-writer.ts";
import { limitCheckpoints } from "./write-ahead-log.ts";

/**
 * The worker thread of `batch-writer.ts`. It has its own connection, so that it can wait without delaying requests.
 */
const { path, busyTimeoutMs } = workerData as BatchOptions;
const db = new DatabaseSync(path, { timeout: busyTimeoutMs });
// Like other writes that are not confirmed, batches do not wait for the disk: writers of this process would too.
db.exec("PRAGMA synchronous = NORMAL; PRAGMA foreign_keys = ON");
limitCheckpoints(db);

parentPort?.on("message", (task: Task | "close") => {
  if (task === "close") {
    db.close();
    parentPort?.close();
  } else parentPort?.postMessage(run(task));
});

function run(task: Task): BatchOutcome {
  try {
    if (task === "checkpoint") db.exec("PRAGMA wal_checkpoint(PASSIVE)");
    else runBatch(task);
    return {};
  } catch (error) {
    return { error };
  }
}

function runBatch({ sql, rows }: Batch): void {
  try {
    const statement = db.prepare(sql);
    db.exec("BEGIN IMMEDIATE");
    for (const row of rows) statement.run(...row);
    db.exec("COMMIT");
  } catch (error) {
    if (db.isTransaction) db.exec("ROLLBACK");
    throw error;
  }
}
