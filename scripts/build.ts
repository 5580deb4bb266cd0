import { globSync, statSync, utimesSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { bundleProgram } from "./bundle-program.ts";

/**
 * `npm run build`: bundles the program into `dist`, as it is published, unless nothing has changed since the last
 * build.
 */
const root = fileURLToPath(new URL("..", import.meta.url));
const dist = join(root, "dist");
const main = join(dist, "main.js");

/**
 * Folders are listed because their time changes when a file is removed. Each installation writes the lock file in
 * `node_modules`.
 */
const inputs = ["src/**", "scripts/**", "package*.json", "node_modules/.package-lock.json"];

const startedAt = new Date();
if (timeOf(main) < Math.max(...globSync(inputs, { cwd: root }).map((path) => timeOf(join(root, path))))) {
  await bundleProgram(dist);
  // A file that changes during the build counts as newer.
  utimesSync(main, startedAt, startedAt);
}

/** Returns the time of a file's last change, or a time long ago if there is no file. */
function timeOf(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0;
}
