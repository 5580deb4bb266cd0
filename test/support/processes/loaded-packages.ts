import { spawnSync } from "node:child_process";
import { join } from "node:path";

const root = join(import.meta.dirname, "../../..");

/** The packages that a piece of code, run in a process of its own from the project's folder, has imported. */
export function listLoadedPackages(script: string, environment: Record<string, string> = {}): Set<string> {
  const watching = `
    import { registerHooks } from "node:module";
    const loaded = new Set();
    registerHooks({ resolve(specifier, context, next) {
      const found = next(specifier, context);
      loaded.add(/node_modules\\/((?:@[^/]+\\/)?[^/]+)/.exec(found.url)?.[1]);
      return found;
    } });
    ${script}
    process.stdout.write(JSON.stringify([...loaded]));`;
  const env = { PATH: process.env["PATH"] ?? "", ...environment };
  const { stdout, stderr } = spawnSync(process.execPath, ["--input-type=module", "--eval", watching], {
    cwd: root,
    env,
    encoding: "utf8",
  });
  try {
    return new Set(JSON.parse(stdout));
  } catch {
    throw new Error(`The script did not end well: ${stderr}`);
  }
}
