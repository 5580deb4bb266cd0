import { posix, win32 } from "node:path";
import type { Place } from "./host.ts";

/** A path below the user's home directory. */
export function inHome(place: Place, ...parts: readonly string[]): string {
  return pathsOf(place).join(place.home, ...parts);
}

/** A path in a directory that a variable names, or else below the home directory. */
export function inNamed(
  place: Place,
  variable: string,
  fallback: readonly string[],
  ...parts: readonly string[]
): string {
  const named = place.env[variable];
  return named ? pathsOf(place).join(named, ...parts) : inHome(place, ...fallback, ...parts);
}

/** A path where programs with windows keep settings, by the custom of the platform. */
export function inAppData(place: Place, ...parts: readonly string[]): string {
  if (place.platform === "darwin") return inHome(place, "Library", "Application Support", ...parts);
  if (place.platform === "win32") return inNamed(place, "APPDATA", ["AppData", "Roaming"], ...parts);
  return inConfig(place, ...parts);
}

/** A path below `~/.config`, or what stands in for it (XDG Base Directory specification: relative paths do not count). */
export function inConfig(place: Place, ...parts: readonly string[]): string {
  const named = place.env["XDG_CONFIG_HOME"];
  return named && posix.isAbsolute(named) ? posix.join(named, ...parts) : inHome(place, ".config", ...parts);
}

function pathsOf({ platform }: Place): typeof posix {
  return platform === "win32" ? win32 : posix;
}
