import module from "node:module";
import { homedir } from "node:os";
import { isAbsolute, join } from "node:path";

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * Enables Node's compile cache for faster starts, unless Node's own variables say otherwise or nothing can be written.
 */
export function enableCompileCache(env: Environment, platform: string): void {
  // Node's default is a shared temporary folder, where other users could place code.
  module.enableCompileCache(cacheFolder(env, platform));
}

/** Returns the user's cache folder, by the convention of the platform. */
function cacheFolder(env: Environment, platform: string): string {
  const name = join("programme-mcp", "compiled");
  if (platform === "win32") return join(env["LOCALAPPDATA"] || join(homedir(), "AppData", "Local"), name);
  if (platform === "darwin") return join(homedir(), "Library", "Caches", name);
  const cacheHome = env["XDG_CACHE_HOME"];
  return join(cacheHome && isAbsolute(cacheHome) ? cacheHome : join(homedir(), ".cache"), name);
}
