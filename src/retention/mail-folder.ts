import { opendir, rm, stat } from "node:fs/promises";
import { join } from "node:path";

/** The names of messages and of partial messages that ended processes left. */
const messagePattern = /^(?:[\w-]{1,200}\.eml|\.[\w-]{1,200}\.partial)$/;

/**
 * Deletes the messages that were written before a time, one after the other. Other files stay.
 * @returns the number of deleted files
 */
export async function sweepMailFolder(directory: string, before: Date, signal?: AbortSignal): Promise<number> {
  let removed = 0;
  for await (const name of listNames(directory)) {
    if (signal?.aborted) break;
    const path = join(directory, name);
    const message = messagePattern.test(name) ? await stat(path).catch(() => undefined) : undefined;
    if (!message || message.mtime >= before) continue;
    await rm(path, { force: true });
    removed += 1;
  }
  return removed;
}

/** Lists file names one by one, because a directory may have more than fit in memory. */
async function* listNames(directory: string): AsyncIterable<string> {
  const entries = await opendir(directory).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== "ENOENT") throw error;
  });
  for await (const entry of entries ?? []) if (entry.isFile()) yield entry.name;
}
