import { randomBytes } from "node:crypto";
import { closeSync, fsyncSync, openSync, readFileSync, statSync, writeSync } from "node:fs";
import { refuseShared } from "../private-file.ts";
import { keyPattern } from "./key-format.ts";

const writingMs = 2_000;

/**
 * Reads the key from a file that only its owner can read, and creates it if there is none. If several processes start
 * at once, one creates it and the others read it.
 * @throws Error when the file contains anything else, or when other users can read it
 */
export function readOrMakeKey(path: string): Buffer {
  return makeKey(path) ?? readKey(path);
}

function makeKey(path: string): Buffer | undefined {
  const key = randomBytes(32);
  try {
    const file = openSync(path, "wx", 0o600);
    writeSync(file, `${key.toString("hex")}\n`);
    fsyncSync(file);
    closeSync(file);
    return key;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EEXIST") return undefined;
    throw error;
  }
}

function readKey(path: string): Buffer {
  refuseShared(path, statSync(path).mode);
  const deadlineMs = Date.now() + writingMs;
  do {
    const text = readFileSync(path, "utf8").trim();
    if (keyPattern.test(text)) return Buffer.from(text, "hex");
    // Another process may be writing it now.
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 20);
  } while (Date.now() < deadlineMs);
  throw new Error(`The key file ${path} does not contain a key of 64 hexadecimal digits`);
}
