import { globSync, statSync, utimesSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { bundleProgram } from "./bundle-program.ts";

/** `npm run build`: the program in `dist`, as it is published, unless nothing has changed since it was built. */
const root = fileURLToPath(new URL("..", import.meta.url));
const dist = join(root, "dist");
const main = join(dist, "main.js");

/** Folders stand for files that were taken away; the lock file in `node_modules` is written by each installation. */
const inputs = ["src/**", "scripts/**", "package*.json", "node_modules/.package-lock.json"];

const startedAt = new Date();
if (timeOf(main) < Math.max(...globSync(inputs, { cwd: root }).map((path) => timeOf(join(root, path))))) {
  await bundleProgram(dist);
  // A file that changes during the build is newer.
  utimesSync(main, startedAt, startedAt);
}

/** When a file was changed last; long ago if it is not there. */
function timeOf(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0;
}
