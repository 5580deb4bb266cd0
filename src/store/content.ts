import { createReadStream, existsSync } from "node:fs";
import { chmod, mkdir, rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { sha256Hex } from "../lib/crypto.ts";
import type { ContentStore } from "./port.ts";

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
