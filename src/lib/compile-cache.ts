import module from "node:module";
import { homedir } from "node:os";
import { isAbsolute, join } from "node:path";

type Environment = Readonly<Record<string, string | undefined>>;

/** Lets Node keep what it compiles for the next start, unless its own variables say otherwise or nothing can be written. */
export function enableCompileCache(env: Environment, platform: string): void {
  // Not in Node's own choice, the folder for everybody's temporary files: who can write there could have code run.
  module.enableCompileCache(cacheFolder(env, platform));
}

/** Where a user's programs keep what they can make again, by the custom of the platform. */
function cacheFolder(env: Environment, platform: string): string {
  const name = join("programme-mcp", "compiled");
  if (platform === "win32") return join(env["LOCALAPPDATA"] || join(homedir(), "AppData", "Local"), name);
  if (platform === "darwin") return join(homedir(), "Library", "Caches", name);
  const cacheHome = env["XDG_CACHE_HOME"];
  return join(cacheHome && isAbsolute(cacheHome) ? cacheHome : join(homedir(), ".cache"), name);
}
