import { chmod, mkdir, opendir, rename, rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Log } from "../lib/log.ts";
import type { MailTransport } from "./mail-transport.ts";

/** Ids as this service makes them: no character of one means anything in a path. */
const idPattern = /^[\w-]{1,200}$/;

/**
 * Keeps messages as `.eml` files in a directory that only its owner can read. A message always has the same file, so
 * one that is kept again is still kept once. The log says where, with the first of them. While the disk does not take
 * them they wait, as for a server.
 */
export function createFileTransport(directory: string, log: Log): MailTransport {
  let told = false;
  return {
    async deliver({ emailSendId, bytes }, _, signal) {
      if (signal.aborted) return { kind: "stopped" };
      if (!idPattern.test(emailSendId)) throw new Error("Not an id");
      try {
        await keep(directory, emailSendId, bytes);
      } catch (error) {
        log.error({ err: error, directory, emailSendId }, "A message could not be kept");
        const { code = "unknown" } = error as NodeJS.ErrnoException;
        return { kind: "deferred", error: `The message could not be kept (${code})`, serverTrouble: true };
      }
      if (!told) log.info({ directory }, "No mail server is set: messages are kept as files");
      told = true;
      return { kind: "accepted" };
    },
    rest: () => undefined,
  };
}

async function keep(directory: string, emailSendId: string, bytes: Uint8Array): Promise<void> {
  await mkdir(directory, { recursive: true, mode: 0o700 });
  await chmod(directory, 0o700);
  // Written beside and moved into place, so that no half message is under a whole one's name.
  const partial = join(directory, `.${emailSendId}.partial`);
  try {
    await writeFile(partial, bytes, { mode: 0o600, flush: true });
    await rename(partial, join(directory, `${emailSendId}.eml`));
  } catch (error) {
    await rm(partial, { force: true }).catch(() => undefined);
    throw error;
  }
}

/** Whole messages, and what a process that ended has left of one. */
const keptPattern = /^(?:[\w-]{1,200}\.eml|\.[\w-]{1,200}\.partial)$/;

/**
 * Removes the messages that were kept before a moment, one after the other; other files are left alone.
 * @returns how many it was
 */
export async function sweepFiles(directory: string, before: Date, signal?: AbortSignal): Promise<number> {
  let removed = 0;
  for await (const name of listNames(directory)) {
    if (signal?.aborted) break;
    const path = join(directory, name);
    const kept = keptPattern.test(name) ? await stat(path).catch(() => undefined) : undefined;
    if (!kept || kept.mtime >= before) continue;
    await rm(path, { force: true });
    removed += 1;
  }
  return removed;
}

/** Names as they are read: a directory may hold more than fit in memory. */
async function* listNames(directory: string): AsyncIterable<string> {
  const entries = await opendir(directory).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== "ENOENT") throw error;
  });
  for await (const entry of entries ?? []) if (entry.isFile()) yield entry.name;
}
