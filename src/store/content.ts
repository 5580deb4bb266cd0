import { createReadStream, existsSync } from "node:fs";
import { chmod, mkdir, rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Readable } from "node:stream";
import { sha256Hex } from "../lib/crypto.ts";

/** Where the bytes of files are: by their own SHA-256, so no name from outside becomes a path. */
export interface ContentStore {
  /** Keeps bytes; gives their SHA-256 in hexadecimal. */
  put(bytes: Uint8Array): Promise<string>;
  has(sha256: string): boolean;
  open(sha256: string): Readable;
}

const digest = /^[0-9a-f]{64}$/;

/** Content in a directory that only its owner can read. */
export function openContentDirectory(directory: string): ContentStore {
  function pathOf(sha256: string): string {
    if (!digest.test(sha256)) throw new Error("Not a SHA-256");
    return join(directory, sha256.slice(0, 2), sha256);
  }

  return {
    async put(bytes) {
      const sha256 = sha256Hex(bytes);
      const path = pathOf(sha256);
      if (existsSync(path)) return sha256;
      await mkdir(join(directory, sha256.slice(0, 2)), { recursive: true, mode: 0o700 });
      await chmod(directory, 0o700);
      // Written beside and moved into place, so that a crash leaves no half file under a whole file's name.
      const partial = `${path}.${process.pid}.partial`;
      await writeFile(partial, bytes, { mode: 0o600 });
      await rename(partial, path);
      return sha256;
    },
    has: (sha256) => digest.test(sha256) && existsSync(pathOf(sha256)),
    open: (sha256) => createReadStream(pathOf(sha256)),
  };
}
