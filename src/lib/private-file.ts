import { closeSync, fstatSync, openSync, readFileSync, statSync } from "node:fs";

/**
 * Reads a file with secrets.
 * @throws Error when other users can access it, when it is larger than `maxBytes`, or when it cannot be read
 */
export function readPrivateFile(path: string, maxBytes: number): string {
  const file = openSync(path, "r");
  try {
    const { mode, size } = fstatSync(file);
    refuseShared(path, mode);
    if (size > maxBytes) throw new Error(`The file ${path} is larger than ${maxBytes} bytes`);
    return readFileSync(file, "utf8");
  } finally {
    closeSync(file);
  }
}

/**
 * Checks a file's mode.
 * @throws Error when other users can access the file
 */
export function refuseShared(path: string, mode: number): void {
  // Windows does not store access rights in the mode.
  if (process.platform === "win32" || (mode & 0o077) === 0) return;
  throw new Error(`Other users can access the file ${path}. Remove their access: chmod 600`);
}

/** Returns a text that changes when the file is changed or replaced. */
export function readFileState(path: string): string {
  const stats = statSync(path, { throwIfNoEntry: false });
  return stats ? `${stats.ino} ${stats.size} ${stats.mtimeMs} ${stats.mode}` : "absent";
}
