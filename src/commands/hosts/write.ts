import { constants } from "node:fs";
import { copyFile, mkdir, open, readFile, realpath, rename, rm, stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import { UsageError } from "../../config/usage-error.ts";

/** Large, because some hosts keep their history in the same file. */
const maxFileBytes = 64 * 1024 * 1024;

/** Reads a settings file. Returns undefined if there is none. */
export async function readSettings(file: string): Promise<string | undefined> {
  const stats = await stat(file).catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return undefined;
    throw error;
  });
  if (stats === undefined) return undefined;
  if (!stats.isFile() || stats.size > maxFileBytes) throw new UsageError(`${file} is not a settings file`);
  return readFile(file, "utf8");
}

export interface WriteResult {
  /** Path of the backup. Undefined if there was no file. */
  readonly backup: string | undefined;
  /** Other users can read the file (POSIX). */
  readonly shared: boolean;
}

/**
 * Replaces a settings file atomically: readers find the old or the new text, even after a power failure. A new file
 * belongs to its owner only; an existing one keeps its mode, and a link stays a link.
 * @param before - the text from which `after` was made
 * @throws Error when the file has changed since; then it is left as it is
 */
export async function replaceSettings(file: string, before: string | undefined, after: string): Promise<WriteResult> {
  await mkdir(dirname(file), { recursive: true, mode: 0o700 });
  const target = before === undefined ? file : await realpath(file);
  const mode = before === undefined ? 0o600 : (await stat(target)).mode & 0o777;
  const temporary = join(dirname(target), `.programme-mcp-${process.pid}.tmp`);
  try {
    const handle = await open(temporary, "wx", 0o600);
    try {
      await handle.writeFile(after);
      await handle.chmod(mode);
      await handle.sync();
    } finally {
      await handle.close();
    }
    if ((await readSettings(file)) !== before) throw new Error(`${file} was changed meanwhile; run the command again`);
    const backup = before === undefined ? undefined : await keep(target);
    await rename(temporary, target);
    return { backup, shared: process.platform !== "win32" && (mode & 0o044) !== 0 };
  } finally {
    await rm(temporary, { force: true });
  }
}

/** Copies the file to a new name beside it. */
async function keep(file: string): Promise<string> {
  const now = new Date().toISOString().replace(/\D/g, "").slice(0, 17);
  const backup = `${file}.${now}.bak`;
  await copyFile(file, backup, constants.COPYFILE_EXCL);
  return backup;
}
