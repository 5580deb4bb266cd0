import { chmod, mkdir, open, rename } from "node:fs/promises";
import { join } from "node:path";
import type { Log } from "../lib/log.ts";
import type { Carrier } from "./carrier.ts";

/** Ids as this service makes them: no character of one means anything in a path. */
const idPattern = /^[\w-]{1,200}$/;

/**
 * Keeps messages as `.eml` files in a directory that only its owner can read. A message always has the same file, so
 * one that is kept again is still kept once. The log says where, with the first of them.
 */
export function createFolderCarrier(directory: string, log: Log): Carrier {
  let told = false;
  return {
    async deliver({ emailSendId, bytes }, _, signal) {
      if (signal.aborted) return { kind: "stopped" };
      if (!idPattern.test(emailSendId)) throw new Error("Not an id");
      await mkdir(directory, { recursive: true, mode: 0o700 });
      await chmod(directory, 0o700);
      // Written beside and moved into place, so that no half message is under a whole one's name.
      const partial = join(directory, `.${emailSendId}.partial`);
      const file = await open(partial, "w", 0o600);
      try {
        await file.writeFile(bytes);
        await file.sync();
      } finally {
        await file.close();
      }
      await rename(partial, join(directory, `${emailSendId}.eml`));
      if (!told) log.info({ directory }, "No mail server is set: messages are kept as files");
      told = true;
      return { kind: "accepted" };
    },
    rest: () => undefined,
  };
}
