import { realpathSync } from "node:fs";
import { posix, win32 } from "node:path";
import { version } from "../../lib/version.ts";
import type { HostLocation } from "./host.ts";

export const launchers = ["auto", "node", "npx"] as const;
export type Launcher = (typeof launchers)[number];

export interface Launch {
  readonly command: string;
  readonly args: readonly string[];
}

/** The running process, as far as a host needs it to start the program again. */
export interface RunningProcess extends Pick<HostLocation, "platform" | "env"> {
  /** Path of the running Node. */
  readonly execPath: string;
  /** Path of the running script. */
  readonly script: string;
}

/** Returns the running process. */
export function getRunningProcess(env: RunningProcess["env"]): RunningProcess {
  return { platform: process.platform, env, execPath: process.execPath, script: process.argv[1] ?? "" };
}

/**
 * Chooses the command with which a host starts this program: npx if it runs from npx's cache, which is temporary,
 * otherwise the running Node and script. Both paths are absolute, because hosts do not have a terminal's search path.
 */
export function chooseLaunch(running: RunningProcess, launcher: Launcher): Launch {
  const script = resolveRealPath(running.script);
  const keptByNpx = /[\\/]_npx[\\/]/.test(script);
  if (launcher === "npx" || (launcher === "auto" && keptByNpx)) return createNpxLaunch(running.platform);
  return { command: findNode(running), args: [script] };
}

/** Returns the launch of this version from the package registry. */
export function createNpxLaunch(platform: NodeJS.Platform): Launch {
  return launchByNpx(platform, [`programme-mcp@${version}`]);
}

/** Returns the launch of a package's program. npx downloads the package if it is missing. */
export function launchByNpx(platform: NodeJS.Platform, args: readonly string[]): Launch {
  // On Windows npx is a command script, which only the command interpreter can start.
  if (platform === "win32") return { command: "cmd", args: ["/c", "npx", "-y", ...args] };
  return { command: "npx", args: ["-y", ...args] };
}

/** Returns a path of the running Node that survives updates, if the search path has one. */
function findNode({ platform, env, execPath }: RunningProcess): string {
  const [paths, name] = platform === "win32" ? [win32, "node.exe"] : [posix, "node"];
  const directories = (env["PATH"] ?? "").split(paths.delimiter).filter((directory) => paths.isAbsolute(directory));
  const found = directories
    .map((directory) => paths.join(directory, name))
    .find((path) => resolveRealPath(path) === resolveRealPath(execPath));
  return found ?? execPath;
}

function resolveRealPath(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
}
