import { accessSync, constants, existsSync, statSync } from "node:fs";
import { dirname } from "node:path";
import { directoryFix, findMissingDirectory } from "../../app/app.ts";
import type { Config } from "../../config/load.ts";
import { createFailure, createPass, createSkip, createWarning, type DoctorCheck, formatSentence } from "./check.ts";

/** Checks that the database exists, can be written, and belongs to its owner only. */
export function checkFiles(config: Config): DoctorCheck[] {
  const name = "database file";
  const { database } = config;
  if (database === ":memory:") return [createSkip(name, "The database is in memory: nothing is stored.")];
  const stats = statSync(database, { throwIfNoEntry: false });
  if (!stats) return [checkDirectory(name, config)];
  if (!stats.isFile()) return [createFailure(name, `${database} is no file.`, "Let PROGRAMME_DATABASE name a file.")];
  try {
    accessSync(database, constants.R_OK | constants.W_OK);
    accessSync(dirname(database), constants.W_OK | constants.X_OK);
  } catch (error) {
    const fix = "Give the user that runs the program the right to write the file and its directory.";
    return [createFailure(name, `${database} cannot be written. ${formatSentence(error)}`, fix)];
  }
  if (process.platform !== "win32" && (stats.mode & 0o077) !== 0) {
    return [createWarning(name, `${database} can be used by other users of this machine.`, `chmod 600 ${database}`)];
  }
  return [createPass(name, `${database} can be written, by its owner alone.`)];
}

/** Checks that a database that does not exist yet can be created. */
function checkDirectory(name: string, config: Config): DoctorCheck {
  const { database } = config;
  const missing = findMissingDirectory(config);
  if (missing !== undefined) {
    return createFailure(name, `${database} is not there, and neither is the directory ${missing}.`, directoryFix);
  }
  const directory = findExistingDirectory(dirname(database));
  try {
    if (!statSync(directory).isDirectory()) throw new Error(`${directory} is no directory`);
    accessSync(directory, constants.W_OK | constants.X_OK);
    return createPass(name, `${database} is not there yet; the first start makes it.`);
  } catch {
    const fix = "Let PROGRAMME_DATA_DIR or PROGRAMME_DATABASE name a place that the program may write to.";
    return createFailure(name, `${database} is not there, and cannot be made in ${directory}.`, fix);
  }
}

/** Returns the directory, or its nearest existing parent. */
export function findExistingDirectory(directory: string): string {
  const above = dirname(directory);
  if (above === directory || existsSync(directory)) return directory;
  return findExistingDirectory(above);
}
