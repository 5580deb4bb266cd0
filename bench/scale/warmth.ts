import { createReadStream } from "node:fs";
import { readdir } from "node:fs/promises";
import { join } from "node:path";

/**
 * Reads all files of a directory, so that they are in memory if there is room. The benchmark measures a database in
 * use, not the first access to a disk.
 */
export async function readFiles(directory: string): Promise<void> {
  for (const entry of await readdir(directory, { recursive: true, withFileTypes: true })) {
    if (entry.isFile()) await readFile(join(entry.parentPath, entry.name));
  }
}

async function readFile(path: string): Promise<void> {
  try {
    for await (const _ of createReadStream(path, { highWaterMark: 2 ** 20 }));
  } catch (error) {
    // A running server removes its own files.
    if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
  }
}
