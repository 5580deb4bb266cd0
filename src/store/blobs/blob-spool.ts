import { createHash } from "node:crypto";
import { mkdir, open, readdir, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { createId } from "../../lib/ids.ts";
import type { BlobContent, Spool } from "../port.ts";

/** Ids of this service. None of their characters has a meaning in a path. */
const idPattern = /^[a-z]{1,8}_[0-9A-Z]{26}$/;

/** Size of one write to the disk. */
const bufferBytes = 256 * 1024;

/** Takes over a finished file, all or nothing. The file may be gone afterwards. */
export type StoreFile = (path: string, content: BlobContent) => Promise<void>;

/**
 * Creates a file in a directory that only its owner can read. Removes files that an interrupted process left for the
 * same id; only one process works on an id.
 * @throws Error for anything but an id of this service
 */
export async function openSpool(directory: string, id: string, keep: StoreFile): Promise<Spool> {
  if (!idPattern.test(id)) throw new Error("Not an id");
  await mkdir(directory, { recursive: true, mode: 0o700 });
  for (const name of await readdir(directory)) {
    if (name.startsWith(`${id}.`)) await rm(join(directory, name), { force: true });
  }
  const path = join(directory, `${id}.${createId("spl")}`);
  const file = await open(path, "wx", 0o600);
  const hash = createHash("sha256");
  // One buffer for the whole file, whatever its size.
  const buffer = Buffer.allocUnsafeSlow(bufferBytes);
  let filledBytes = 0;
  let sizeBytes = 0;
  let content: BlobContent | undefined;

  async function append(bytes: Uint8Array): Promise<void> {
    hash.update(bytes);
    await file.appendFile(bytes);
  }

  async function flush(): Promise<void> {
    const filled = buffer.subarray(0, filledBytes);
    filledBytes = 0;
    await append(filled);
  }

  async function finish(): Promise<BlobContent> {
    if (content) return content;
    await flush();
    await file.sync();
    await file.close();
    content = { sha256: hash.digest("hex"), sizeBytes };
    return content;
  }

  return {
    get sizeBytes() {
      return sizeBytes;
    },
    async write(bytes) {
      const length = Buffer.byteLength(bytes);
      sizeBytes += length;
      if (filledBytes + length > bufferBytes) await flush();
      if (length > bufferBytes) return append(Buffer.from(bytes as string));
      if (typeof bytes === "string") buffer.write(bytes, filledBytes);
      else buffer.set(bytes, filledBytes);
      filledBytes += length;
    },
    finish,
    keep: async () => keep(path, await finish()),
    async discard() {
      await file.close().catch(() => undefined);
      await rm(path, { force: true });
    },
  };
}

/** Deletes files that were last written before a time: ended processes left them. @returns the number of deleted files */
export async function sweepSpools(directory: string, before: Date): Promise<number> {
  let deleted = 0;
  for (const name of await listNames(directory)) {
    const path = join(directory, name);
    const written = await stat(path).catch(() => undefined);
    if (!written || written.mtime >= before) continue;
    await rm(path, { force: true });
    deleted += 1;
  }
  return deleted;
}

async function listNames(directory: string): Promise<string[]> {
  try {
    return await readdir(directory);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return [];
    throw error;
  }
}
