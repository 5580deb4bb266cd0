import { closeSync, fstatSync, openSync, readFileSync, statSync } from "node:fs";

/**
 * The text of a file with secrets.
 * @throws Error when others than its owner can use it, when it is larger than `maxBytes`, or when it cannot be read
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

/** @throws Error when a file's mode lets others than its owner use it */
export function refuseShared(path: string, mode: number): void {
  // Windows keeps who may read a file elsewhere.
  if (process.platform === "win32" || (mode & 0o077) === 0) return;
  throw new Error(`Others than its owner can use the file ${path}; take their rights away (chmod 600)`);
}

/** What tells whether a file was changed or replaced since it was looked at. */
export function readFileState(path: string): string {
  const stats = statSync(path, { throwIfNoEntry: false });
  return stats ? `${stats.ino} ${stats.size} ${stats.mtimeMs} ${stats.mode}` : "absent";
}
