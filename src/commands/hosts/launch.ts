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

/** How this process came to be. */
export interface Running extends Pick<HostLocation, "platform" | "env"> {
  /** The Node that runs. */
  readonly execPath: string;
  /** The script that it runs. */
  readonly script: string;
}

/** This process. */
export function getRunning(env: Running["env"]): Running {
  return { platform: process.platform, env, execPath: process.execPath, script: process.argv[1] ?? "" };
}

/**
 * How a host starts this very program: by npx where npx keeps it, for what it keeps goes away again; else by the Node
 * and the script that run now, both by their whole path, for hosts do not search where a terminal does.
 */
export function chooseLaunch(running: Running, launcher: Launcher): Launch {
  const script = resolveRealPath(running.script);
  const keptByNpx = /[\\/]_npx[\\/]/.test(script);
  if (launcher === "npx" || (launcher === "auto" && keptByNpx)) return createNpxLaunch(running.platform);
  return { command: findNode(running), args: [script] };
}

/** This version of the program, from the registry of packages. */
export function createNpxLaunch(platform: NodeJS.Platform): Launch {
  return launchByNpx(platform, [`programme-mcp@${version}`]);
}

/** A package's program, which is fetched first where it is not there. */
export function launchByNpx(platform: NodeJS.Platform, args: readonly string[]): Launch {
  // There npx is a script of the command interpreter, which only that can start.
  if (platform === "win32") return { command: "cmd", args: ["/c", "npx", "-y", ...args] };
  return { command: "npx", args: ["-y", ...args] };
}

/** The Node that runs, by the name under which it stays when it is brought up to date, where the search path has one. */
function findNode({ platform, env, execPath }: Running): string {
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
