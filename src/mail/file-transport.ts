import { chmod, mkdir, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Log } from "../lib/log.ts";
import { LogOnce } from "../lib/log-once.ts";
import type { MailTransport } from "./mail-transport.ts";

/** The ids of this service, which have no special characters of paths. */
const idPattern = /^[\w-]{1,200}$/;

/**
 * Writes messages as `.eml` files to a directory that only its owner can read. A message always has the same file name,
 * so a repetition replaces its file. While the disk fails, messages wait as they do for a server.
 */
export function createFileTransport(directory: string, log: Log): MailTransport {
  const notices = new LogOnce();
  return {
    async deliver({ emailSendId, bytes }, _, signal) {
      if (signal.aborted) return { kind: "stopped" };
      if (!idPattern.test(emailSendId)) throw new Error("The id of a message is malformed");
      try {
        await writeMessage(directory, emailSendId, bytes);
      } catch (error) {
        log.error({ err: error, directory, emailSendId }, "A message could not be written to a file");
        const { code = "unknown" } = error as NodeJS.ErrnoException;
        return { kind: "deferred", error: `The message could not be written to a file (${code})`, serverTrouble: true };
      }
      if (notices.isDue()) log.info({ directory }, "No mail server is set: messages are written to files");
      return { kind: "accepted" };
    },
    close: () => undefined,
  };
}

async function writeMessage(directory: string, emailSendId: string, bytes: Uint8Array): Promise<void> {
  await mkdir(directory, { recursive: true, mode: 0o700 });
  await chmod(directory, 0o700);
  // The file is moved into place when it is complete, so that no `.eml` file is partial.
  const partial = join(directory, `.${emailSendId}.partial`);
  try {
    await writeFile(partial, bytes, { mode: 0o600, flush: true });
    await rename(partial, join(directory, `${emailSendId}.eml`));
  } catch (error) {
    await rm(partial, { force: true }).catch(() => undefined);
    throw error;
  }
}
