import type { Log } from "../lib/log.ts";
import type { BlobStore, Store } from "../store/port.ts";

export interface ExportFilesDeps {
  readonly store: Store;
  readonly artifacts: BlobStore;
  readonly log: Log;
}

const batchFiles = 20;

/**
 * Deletes the files of exports that expired before a time, a batch at a time.
 * @returns the number of deleted files
 */
export async function sweepExportFiles(
  { store, artifacts, log }: ExportFilesDeps,
  before: Date,
  signal?: AbortSignal,
): Promise<number> {
  let deleted = 0;
  for (let batch = batchFiles; batch === batchFiles && !signal?.aborted; deleted += batch) {
    const expired = await store.exportQueue.listExpired(before.toISOString(), batchFiles);
    for (const artifact of expired) {
      await artifacts.remove(artifact.sha256);
      await store.exportQueue.deleteArtifact(artifact);
      log.info({ exportId: artifact.exportId }, "The file of an expired export was deleted");
    }
    batch = expired.length;
  }
  return deleted;
}
