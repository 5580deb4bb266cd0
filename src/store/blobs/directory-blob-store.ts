import { mkdir, open, rename, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { createId } from "../../lib/ids.ts";
import type { BlobContent, BlobStore } from "../port.ts";
import { checkDeclared, verifyStream } from "./blob-check.ts";
import { openSpool, type StoreFile, sweepSpools } from "./blob-spool.ts";

const digest = /^[0-9a-f]{64}$/;

/**
 * Returns the path of a blob: a folder for each first byte.
 * @throws Error for anything but a SHA-256 in hexadecimal
 */
export function getBlobPath(sha256: string): readonly [folder: string, name: string] {
  if (!digest.test(sha256)) throw new Error("Not a SHA-256");
  return [sha256.slice(0, 2), sha256];
}

/** Opens a blob store in a directory that only its owner can read. */
export function openDirectoryBlobStore(directory: string): BlobStore {
  const spools = join(directory, "spool");
  const resolveBlobPath = (sha256: string) => join(directory, ...getBlobPath(sha256));

  const keep: StoreFile = async (path, { sha256 }) => {
    const folder = join(directory, getBlobPath(sha256)[0]);
    await mkdir(folder, { recursive: true, mode: 0o700 });
    await rename(path, resolveBlobPath(sha256));
    await syncFolder(folder);
  };

  async function find(sha256: string): Promise<BlobContent | undefined> {
    const found = await stat(resolveBlobPath(sha256)).catch(handleMissing);
    return found && { sha256, sizeBytes: found.size };
  }

  return {
    find,
    put: async (bytes, declared = {}) =>
      putWhole(bytes, checkDeclared(bytes, declared), { find, spool: openBlobSpool }),
    spool: openBlobSpool,
    async open(sha256, range) {
      const file = await open(resolveBlobPath(sha256));
      if (range) return file.createReadStream(range);
      return verifyStream(file.createReadStream(), sha256);
    },
    remove: async (sha256) => rm(resolveBlobPath(sha256), { force: true }),
    sweep: (before) => sweepSpools(spools, before),
  };

  function openBlobSpool(id: string) {
    return openSpool(spools, id, keep);
  }
}

/** Stores bytes from memory, unless they are already stored. */
export async function putWhole(
  bytes: Uint8Array,
  sha256: string,
  { find, spool }: Pick<BlobStore, "find" | "spool">,
): Promise<string> {
  // A blob that a disk fault has truncated is stored again.
  if ((await find(sha256))?.sizeBytes === bytes.byteLength) return sha256;
  const spooled = await spool(createId("put"));
  try {
    await spooled.write(bytes);
    await spooled.keep();
  } finally {
    await spooled.discard();
  }
  return sha256;
}

/**
 * Syncs a folder, so that a new name survives a power failure. Some platforms cannot; there the file system does it.
 */
async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder).catch(() => undefined);
  await handle?.sync().catch(() => undefined);
  await handle?.close();
}

function handleMissing(error: NodeJS.ErrnoException): undefined {
  if (error.code === "ENOENT") return undefined;
  throw error;
}
